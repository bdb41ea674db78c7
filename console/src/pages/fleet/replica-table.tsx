import type { Replica, ReplicaFacts } from '#client'
import { Revision } from '../../components/live/revision.tsx'
import { Name } from '../../components/name.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { clockOffset, daysLeft, expiryDays } from '../../lib/live/attention.ts'
import { formatDuration } from '../../lib/live/durations.ts'
import { formatNumber } from '../../lib/numbers.ts'
import { formatDate } from '../../lib/times.ts'
import { language } from '../../state/preferences.ts'
import { useStore } from '../../state/store.ts'
import { useTexts } from '../../texts/texts.ts'
import { texts as bilingual } from './texts.ts'

const order = ['lost', 'stale', 'behind', 'current']
const colors = { current: 'yes', behind: 'part', stale: 'part', lost: 'no' } as const

/** One line for each process that reports. */
export function ReplicaTable({ replicas }: { replicas: readonly Replica[] }) {
  const texts = useTexts(bilingual)
  const reader = useStore(language)
  const now = Date.now()
  const loaded = (since: string) =>
    texts.loaded(formatDuration(reader, (now - Date.parse(since)) / 1000))
  const upSeconds = ({ facts }: Replica) =>
    facts === undefined ? undefined : (now - Date.parse(facts.startedAt)) / 1000
  const columns: readonly Column<Replica>[] = [
    {
      id: 'replica',
      title: texts.replica,
      cell: ({ id, lastError }) => (
        <>
          <Name text={id} />
          {lastError !== undefined && (
            <p class="problem">
              {texts.lastError}: <Name text={lastError} />
            </p>
          )}
        </>
      ),
      sort: ({ id }) => id,
    },
    {
      id: 'state',
      title: texts.state,
      cell: (replica) => (
        <>
          <span class={`tag ${colors[replica.state]}`} title={texts.stateHints[replica.state]}>
            {texts.states[replica.state]}
          </span>{' '}
          {replica.facts?.ready === false && <span class="tag no">{texts.notReady}</span>}{' '}
          <WrongClock of={replica} />
        </>
      ),
      sort: ({ state }) => order.indexOf(state),
    },
    {
      id: 'policy',
      title: texts.policy,
      cell: ({ revision, ageSeconds }) => (
        <>
          {revision === null ? '–' : <Revision of={revision} />}
          <Detail>{texts.reported(formatDuration(reader, ageSeconds))}</Detail>
        </>
      ),
      sort: ({ revision }) => revision ?? undefined,
    },
    {
      id: 'version',
      title: texts.version,
      cell: (replica) => {
        const up = upSeconds(replica)
        return (
          <>
            {replica.version}
            <Detail>{up === undefined ? texts.older : texts.up(formatDuration(reader, up))}</Detail>
          </>
        )
      },
      sort: upSeconds,
    },
    {
      id: 'configuration',
      title: texts.configuration,
      cell: ({ facts }) =>
        facts?.configuration && (
          <>
            <code>{facts.configuration.revision}</code>
            <Rejected is={facts.configuration.rejected} />
            <Detail>{loaded(facts.configuration.since)}</Detail>
          </>
        ),
      sort: ({ facts }) => facts?.configuration?.revision,
    },
    {
      id: 'keys',
      title: texts.keys,
      cell: ({ facts }) => facts && <Keys of={facts.keys} loaded={loaded(facts.keys.since)} />,
      sort: ({ facts }) => facts?.keys.signer ?? undefined,
    },
    {
      id: 'certificate',
      title: texts.certificate,
      cell: (replica) => <Certificate of={replica} now={now} />,
      sort: ({ facts }) => facts?.certificate?.notAfter,
    },
    {
      id: 'targets',
      title: texts.targets,
      cell: ({ facts }) => facts && <Targets of={facts.upstreams} />,
      sort: ({ facts }) => facts?.upstreams.out,
    },
    {
      id: 'requests',
      title: texts.requests,
      isNumeric: true,
      cell: ({ facts }) => facts && formatNumber(requestsOf(facts)),
      sort: ({ facts }) => facts && requestsOf(facts),
    },
  ]
  const shown = columns.filter(
    ({ id }) => id !== 'certificate' || replicas.some(({ facts }) => facts?.certificate),
  )
  return (
    <Table
      caption={texts.replicas}
      rows={replicas}
      keyOf={({ id }) => id}
      columns={shown}
      initial={{ column: 'state', isDescending: false }}
    />
  )
}

function Detail({ children }: { children: string }) {
  return <p class="detail">{children}</p>
}

function WrongClock({ of }: { of: Replica }) {
  const texts = useTexts(bilingual)
  const reader = useStore(language)
  const ahead = clockOffset(of)
  if (ahead === undefined) return null
  const how = ahead > 0 ? texts.clockAhead : texts.clockBehind
  return <span class="tag no">{how(formatDuration(reader, Math.abs(ahead)))}</span>
}

function Rejected({ is }: { is: boolean }) {
  const texts = useTexts(bilingual)
  return is ? (
    <>
      {' '}
      <span class="tag no">{texts.rejected}</span>
    </>
  ) : null
}

interface KeysProps {
  readonly of: ReplicaFacts['keys']
  readonly loaded: string
}

function Keys({ of: { signer, count, rejected }, loaded }: KeysProps) {
  const texts = useTexts(bilingual)
  return (
    <>
      {signer === null ? (
        <span class="tag no">{texts.noSigner}</span>
      ) : (
        <Name text={signer} isCode />
      )}
      <Rejected is={rejected} />
      <Detail>{count > 0 ? `${texts.keyCount(count)}, ${loaded}` : loaded}</Detail>
    </>
  )
}

function Certificate({ of, now }: { of: Replica; now: number }) {
  const texts = useTexts(bilingual)
  const reader = useStore(language)
  const certificate = of.facts?.certificate
  const days = daysLeft(of, now)
  if (certificate === undefined || days === undefined) return null
  const until = texts.until(formatDate(reader, certificate.notAfter))
  return (
    <>
      {days <= 0 ? (
        <span class="tag no">{texts.expired}</span>
      ) : days <= expiryDays ? (
        <span class="tag part">{until}</span>
      ) : (
        until
      )}
      <Rejected is={certificate.rejected} />
      <Detail>{certificate.names}</Detail>
    </>
  )
}

function Targets({ of: { targets, out, named } }: { of: ReplicaFacts['upstreams'] }) {
  const texts = useTexts(bilingual)
  if (targets === 0) return null
  if (out === 0) return <>{texts.serving(targets)}</>
  return (
    <>
      <span class="tag part">{texts.out(out, targets)}</span>
      <ul class="detail">
        {named.map(({ upstream, target, state }) => (
          <li key={`${upstream} ${target}`}>
            {upstream} <Name text={target} isCode />: {texts.targetStates[state]}
          </li>
        ))}
      </ul>
    </>
  )
}

function requestsOf({ outcomes }: ReplicaFacts): number {
  return Object.values(outcomes).reduce((sum, each) => sum + each, 0)
}
