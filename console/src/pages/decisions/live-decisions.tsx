import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { DecisionBatch, WatchState } from '#client'
import { Banner } from '../../components/banner.tsx'
import { Filters } from '../../components/filters.tsx'
import { LiveStatus } from '../../components/live/live-status.tsx'
import { EmptyState } from '../../components/states.tsx'
import { type DecisionList, matches, noDecisions, withBatches } from '../../lib/live/decisions.ts'
import type { PageProps } from '../../pages.ts'
import { useTexts } from '../../texts/texts.ts'
import { useAnswer } from '../../use-answer.ts'
import { useLive } from '../../use-live.ts'
import { DecisionTable } from './decision-table.tsx'
import { texts as bilingual } from './texts.ts'

/** However many gateways send, the page changes this often. */
const updateMs = 500
const mostShown = 100
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Decisions as they are made. */
export function LiveDecisions({ query }: PageProps) {
  const texts = useTexts(bilingual)
  const { live, watched, list, clear } = useDecisions()
  const [paused, setPaused] = useState<DecisionList>()
  const names = useAnswer('policy/names', {}, { isOptional: true }).value
  const current = names && { revision: names.revision, isPublished: names.policy === 'live' }
  const { decisions, leftOut } = paused ?? list
  const { role, method, path, verdict } = query
  const shown = useMemo(
    () => decisions.filter((each) => matches(each, { role, method, path, verdict })),
    [decisions, role, method, path, verdict],
  )
  if (watched?.available === false) {
    return (
      <EmptyState title={texts.unavailable}>
        <p>{texts.unavailableHint}</p>
      </EmptyState>
    )
  }
  const isHeard = watched?.connected === true
  const isInterrupted = watched?.wasConnected === true && !isHeard
  const status =
    live.state === 'live' && !isHeard ? ({ ...live, state: 'connecting' } as const) : live
  return (
    <>
      <Filters page="decisions" query={query} filters={filtersFor(texts)} />
      {isInterrupted && (
        <Banner kind="error" isAnnounced>
          {texts.interrupted}
        </Banner>
      )}
      <LiveStatus live={status} isPaused={paused !== undefined}>
        <button
          type="button"
          aria-pressed={paused !== undefined}
          onClick={() => setPaused(paused === undefined ? list : undefined)}
        >
          {paused === undefined ? texts.pause : texts.resume}
        </button>
        <button
          type="button"
          onClick={() => {
            clear()
            if (paused !== undefined) setPaused(noDecisions)
          }}
        >
          {texts.clear}
        </button>
        <span class="count">
          {paused !== undefined && list.seen > paused.seen
            ? texts.arrived(list.seen - paused.seen)
            : shown.length > mostShown
              ? texts.newest(mostShown, shown.length)
              : shown.length > 0 && texts.shown(shown.length)}
        </span>
      </LiveStatus>
      {shown.length > 0 ? (
        <DecisionTable decisions={shown.slice(0, mostShown)} current={current} />
      ) : decisions.length > 0 ? (
        <EmptyState title={texts.noMatch(decisions.length)} />
      ) : (
        <EmptyState title={texts.none}>
          <p>{texts.noneHint}</p>
        </EmptyState>
      )}
      {leftOut > 0 && <p class="detail block">{texts.leftOut(leftOut)}</p>}
    </>
  )
}

function filtersFor(texts: typeof bilingual.en) {
  const all = ['', texts.any] as const
  return [
    { name: 'role', label: texts.role },
    {
      name: 'method',
      label: texts.method,
      choices: [all, ...methods.map((each) => [each, each] as const)],
    },
    { name: 'path', label: texts.path, placeholder: '/api/v1/orders' },
    { name: 'verdict', label: texts.verdict, choices: [all, ...Object.entries(texts.verdicts)] },
  ]
}

interface Watched extends WatchState {
  readonly wasConnected: boolean
}

/** Collects what arrives and shows it in steps, so that a busy fleet does not keep the page busy. */
function useDecisions() {
  const [list, setList] = useState(noDecisions)
  const [watched, setWatched] = useState<Watched>()
  const arrived = useRef<DecisionBatch[]>([])
  const live = useLive('live/decisions', ({ event, data }) => {
    if (event === 'decisions') arrived.current.push(data)
    if (event !== 'state') return
    setWatched((last) => ({
      ...data,
      wasConnected: data.connected || last?.wasConnected === true,
    }))
  })
  useEffect(() => {
    const timer = setInterval(() => {
      const batches = arrived.current
      if (batches.length === 0) return
      arrived.current = []
      setList((last) => withBatches(last, batches))
    }, updateMs)
    return () => clearInterval(timer)
  }, [])
  const clear = () => setList((last) => ({ ...noDecisions, seen: last.seen }))
  return { live, watched, list, clear }
}
