import type { Fleet } from '#client'
import { Banner } from '../../components/banner.tsx'
import { ChoiceField } from '../../components/live/choice-field.tsx'
import { LiveStatus } from '../../components/live/live-status.tsx'
import { Refreshed } from '../../components/live/refreshed.tsx'
import { Revision } from '../../components/live/revision.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { EmptyState } from '../../components/states.tsx'
import type { PageProps } from '../../pages.ts'
import { questions } from '../../questions.ts'
import { open } from '../../router.ts'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { useRefreshed } from '../../use-refreshed.ts'
import { useTraffic } from '../../use-traffic.ts'
import { ReplicaTable } from './replica-table.tsx'
import { texts as bilingual } from './texts.ts'

/** Every gateway that reports. */
export function Page({ query }: PageProps) {
  const texts = useTexts(bilingual)
  const { pages } = useTexts(commonTexts)
  const { live, turn } = useTraffic()
  const answer = useRefreshed(...questions.fleet(), { turn })
  return (
    <>
      <PageHeader title={pages.fleet} about={texts.about} />
      <LiveStatus live={live} />
      <Refreshed answer={answer}>
        {(fleet) => <FleetState fleet={fleet} state={query['state'] ?? ''} />}
      </Refreshed>
    </>
  )
}

interface FleetProps {
  readonly fleet: Fleet
  /** The state that the reader chose; empty: all. */
  readonly state: string
}

function FleetState({ fleet, state }: FleetProps) {
  const texts = useTexts(bilingual)
  const { source, counts, replicas, revision } = fleet
  if (replicas.length === 0) {
    return (
      <EmptyState title={texts.noReplicas}>
        <p>{texts.noReplicasHint}</p>
      </EmptyState>
    )
  }
  const shown = replicas.filter((each) => state === '' || each.state === state)
  const states = Object.entries(texts.states).map(
    ([name, title]) => [name, `${title} (${counts[name as keyof typeof counts]})`] as const,
  )
  const choices = [['', `${texts.all} (${replicas.length})`] as const, ...states]
  return (
    <>
      {counts.lost > 0 && <Banner kind="error">{texts.lost(counts.lost)}</Banner>}
      {source === 'gateway' ? (
        <p class="detail">{texts.oneGateway}</p>
      ) : (
        <ChoiceField
          label={texts.state}
          name="state"
          value={state}
          choices={choices}
          onValue={(value) => open('fleet', { state: value })}
        />
      )}
      <section>
        <div class="section-head">
          <h2>{texts.replicas}</h2>
          <p class="count">
            {texts.summary(counts.current, replicas.length)}
            {revision !== null && (
              <>
                {' '}
                <Revision of={revision} />
              </>
            )}
          </p>
        </div>
        {shown.length === 0 ? (
          <EmptyState title={texts.nothing} />
        ) : (
          <ReplicaTable replicas={shown} />
        )}
      </section>
    </>
  )
}
