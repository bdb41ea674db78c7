import { useEffect, useRef, useState } from 'preact/hooks'
import { type PolicyDenials, type PolicyReplay, Problem, type ReplayChange } from '#client'
import { asProblem, submit, textOf } from '../../api.ts'
import { ErrorState, Loading } from '../../components/states.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import type { DraftFile } from '../../lib/draft.ts'
import { lineOf, placeOf } from '../../lib/rule-line.ts'
import { useTexts } from '../../texts/texts.ts'
import { Refusals } from './refusals.tsx'
import { texts as bilingual } from './texts.ts'

interface ReplayProps {
  readonly files: readonly DraftFile[]
  readonly isValid: boolean
}

const times = ['1h', '6h', '24h', '7d'] as const
type Since = (typeof times)[number]

interface Result {
  readonly log: PolicyReplay | Problem
  /** What gateways counted, where no decision log can be read. */
  readonly counted?: PolicyDenials | Problem
}

/** Asks the draft again what gateways decided in the last hours. */
export function Replay({ files, isValid }: ReplayProps) {
  const texts = useTexts(bilingual)
  const [since, setSince] = useState<Since>('6h')
  const [result, setResult] = useState<Result | 'asking'>()
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])
  const replay = async (event: Event) => {
    event.preventDefault()
    running.current?.abort()
    const controller = new AbortController()
    running.current = controller
    const { signal } = controller
    setResult('asking')
    const found = await askReplay(files, since, signal)
    if (!signal.aborted) setResult(found)
  }
  return (
    <section>
      <h2>{texts.replay}</h2>
      <p class="about">{texts.replayAbout}</p>
      <form class="form" onSubmit={(event) => void replay(event)}>
        <label class="field">
          {texts.since}
          <select value={since} onChange={(event) => setSince(event.currentTarget.value as Since)}>
            {times.map((each) => (
              <option key={each} value={each}>
                {texts.times[each]}
              </option>
            ))}
          </select>
        </label>
        <button type="submit" disabled={!isValid || result === 'asking'}>
          {texts.startReplay}
        </button>
        {!isValid && <p class="hint">{texts.fixFirst}</p>}
      </form>
      {result === 'asking' && <Loading />}
      {result !== undefined && result !== 'asking' && <Answer result={result} />}
    </section>
  )
}

async function askReplay(
  files: readonly DraftFile[],
  since: Since,
  signal: AbortSignal,
): Promise<Result> {
  const asking = { signal, isOptional: true }
  const log = await submit('policy/replay', { files, since }, asking).then(
    ({ document }) => document,
    asProblem,
  )
  if (!(log instanceof Problem)) return { log }
  const body = { files, since, limit: 1000 }
  const counted = await submit('policy/denials', body, asking).then(
    ({ document }) => document,
    asProblem,
  )
  return { log, counted }
}

function Answer({ result: { log, counted } }: { result: Result }) {
  const texts = useTexts(bilingual)
  if (!(log instanceof Problem)) return <Replayed replay={log} />
  if (counted === undefined || counted instanceof Problem) return <ErrorState problem={log} />
  return (
    <>
      <p class="hint">
        {texts.noLog} {textOf(log)}
      </p>
      <Refusals answer={counted} />
    </>
  )
}

function Replayed({ replay }: { replay: PolicyReplay }) {
  const texts = useTexts(bilingual)
  const { asked, decisions, unchanged, wouldDeny, wouldAllow, first, last, changes } = replay
  const lost = Object.values(replay.couldNotAsk).reduce((sum, number) => sum + number, 0)
  const other = replay.notAsked.identity + replay.notAsked.route
  const columns: readonly Column<ReplayChange>[] = [
    {
      id: 'result',
      title: texts.would,
      cell: ({ result }) => (
        <span class={`tag ${result === 'allow' ? 'yes' : 'no'}`}>{texts.woulds[result]}</span>
      ),
    },
    {
      id: 'calls',
      title: texts.calls,
      cell: ({ calls }) => calls,
      sort: ({ calls }) => calls,
      isNumeric: true,
    },
    { id: 'users', title: texts.users, cell: ({ users }) => users.count, isNumeric: true },
    { id: 'roles', title: texts.roles, cell: ({ roles }) => roles.some.join(', ') },
    {
      id: 'example',
      title: texts.example,
      cell: ({ example: { method, path } }) => <code>{`${method} ${path}`}</code>,
    },
    {
      id: 'line',
      title: texts.decidedBy,
      cell: ({ now: { rule, exclusion } }) => {
        const line = rule ?? exclusion
        return line === undefined ? texts.noRule : `${placeOf(line.origin)} ${lineOf(line)}`
      },
    },
  ]
  return (
    <div class="block">
      <p class="summary" role="status">
        {texts.replayed(asked, decisions)}
      </p>
      <p>
        {texts.outcomes(unchanged, wouldDeny, wouldAllow)}{' '}
        {first !== undefined && last !== undefined && (
          <span class="detail">
            <Time at={first} /> – <Time at={last} />
          </span>
        )}
      </p>
      {lost + other > 0 && <p class="hint">{texts.notAsked(lost, other)}</p>}
      {changes.length > 0 && (
        <Table caption={texts.replay} columns={columns} rows={changes} keyOf={(_, at) => at} />
      )}
    </div>
  )
}
