import { useMemo } from 'preact/hooks'
import { Banner } from '../../components/banner.tsx'
import { Chart } from '../../components/chart.tsx'
import { Table } from '../../components/table.tsx'
import {
  groupOf,
  outcomeGroups,
  outcomesOf,
  perMinute,
  type TrafficHistory,
} from '../../lib/live/traffic.ts'
import { formatNumber } from '../../lib/numbers.ts'
import { formatClock } from '../../lib/times.ts'
import { language } from '../../state/preferences.ts'
import { useStore } from '../../state/store.ts'
import { useTexts } from '../../texts/texts.ts'
import { texts as bilingual } from './texts.ts'

/** Requests of the last hour by what became of them. */
export function TrafficChart({ history }: { history: TrafficHistory }) {
  const texts = useTexts(bilingual)
  const reader = useStore(language)
  const { points } = history
  const sums = useMemo(() => perMinute(history), [history])
  const lastKnown = points.findLast(({ outcomes }) => outcomes !== undefined)
  const isUnknown = points.length > 0 && points.at(-1)?.outcomes === undefined
  return (
    <section>
      {isUnknown && (
        <Banner kind="error" isAnnounced>
          {texts.unknownSince(formatClock(reader, lastKnown?.at ?? points[0]?.at ?? 0))}
        </Banner>
      )}
      {points.length === 0 ? (
        <>
          <h2>{texts.traffic}</h2>
          <p class="detail">{texts.noTraffic}</p>
        </>
      ) : (
        <>
          <Chart
            title={texts.traffic}
            times={points.map(({ at }) => at)}
            series={outcomeGroups.map((id) => ({
              id,
              title: texts.groups[id],
              values: sums.map((each) => each?.[id]),
            }))}
          />
          <p class="hint">{texts.trafficHint}</p>
          <Outcomes history={history} />
        </>
      )}
    </section>
  )
}

/** Every outcome by the name that logs and metrics have for it. */
function Outcomes({ history }: { history: TrafficHistory }) {
  const texts = useTexts(bilingual)
  const rows = useMemo(() => outcomesOf(history.points), [history])
  return (
    <details class="block">
      <summary>{texts.outcomes}</summary>
      {rows.length === 0 ? (
        <p class="detail">{texts.noOutcomes}</p>
      ) : (
        <Table
          caption={texts.outcomes}
          rows={rows}
          keyOf={({ outcome }) => outcome}
          columns={[
            {
              id: 'outcome',
              title: texts.outcome,
              cell: ({ outcome }) => <code>{outcome}</code>,
              sort: ({ outcome }) => outcome,
            },
            {
              id: 'group',
              title: texts.group,
              cell: ({ outcome }) => texts.groups[groupOf(outcome)],
              sort: ({ outcome }) => outcomeGroups.indexOf(groupOf(outcome)),
            },
            {
              id: 'count',
              title: texts.count,
              isNumeric: true,
              cell: ({ count }) => formatNumber(count),
              sort: ({ count }) => count,
            },
          ]}
        />
      )}
    </details>
  )
}
