import { LiveStatus } from '../../components/live/live-status.tsx'
import { Refreshed } from '../../components/live/refreshed.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { questions } from '../../questions.ts'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { useRefreshed } from '../../use-refreshed.ts'
import { useTraffic } from '../../use-traffic.ts'
import { AttentionList } from './attention-list.tsx'
import { PolicyChanges, RecordedChanges } from './recent-changes.tsx'
import { texts as bilingual } from './texts.ts'
import { Tiles } from './tiles.tsx'
import { TrafficChart } from './traffic-chart.tsx'

/** Steps between two questions about what changes rarely: half a minute. */
const slowSteps = 3

/** The state of the fleet at a glance. */
export function Page() {
  const texts = useTexts(bilingual)
  const { pages } = useTexts(commonTexts)
  const { live, history, turn } = useTraffic()
  const slowTurn = Math.floor(turn / slowSteps)
  const fleet = useRefreshed(...questions.fleet(), { turn })
  const locks = useRefreshed('login/locks', {}, { turn: slowTurn, isOptional: true }).value
  const { source, revision } = fleet.value ?? {}
  const moves = useRefreshed(
    source === 'redis' ? 'policy/history' : undefined,
    { limit: 6 },
    { turn: revision, isOptional: true },
  ).value
  return (
    <>
      <PageHeader title={pages.overview} about={texts.about} />
      <LiveStatus live={live} />
      <Refreshed answer={fleet}>
        {(value) => (
          <>
            <Tiles fleet={value} locks={locks} history={history} lastMove={moves?.[0]} />
            <AttentionList fleet={value} />
          </>
        )}
      </Refreshed>
      <TrafficChart history={history} />
      <div class="columns">
        {moves !== undefined && <PolicyChanges moves={moves} />}
        <RecordedChanges turn={slowTurn} />
      </div>
    </>
  )
}
