import { denialsOf } from '../../answers/usage/denials.ts'
import { type Observation, observationOf } from '../../answers/usage/observation.ts'
import { KEPT_DAYS, lastDays } from '../../policy/usage/usage.ts'
import { sinceMs } from '../duration.ts'
import { InvalidInput } from '../invalid-input.ts'
import type { RunOf } from '../operation.ts'
import { dated } from './dated.ts'
import type { policyDenials } from './evidence-descriptions.ts'
import { aboutPolicy, findPolicy, policyName } from './policy-query.ts'
import { readUsage } from './stored-usage.ts'

/** What the text shows besides: the policy in words. */
export interface DenialsExtras {
  readonly policy: string
}

/** Lists the most frequent refusals, and what would allow them. */
export const run: RunOf<typeof policyDenials, DenialsExtras> = async (input, context) => {
  const now = context.now()
  const days = lastDays(daysSince(input.since, now), now)
  const query = await findPolicy({ ...input, config: context.configFile }, context, 'optional')
  const usage = await readUsage(query.settings, { days, kinds: ['refusal'] }, context)
  const observation = observationOf(usage, { begin: Date.parse(days[0] ?? ''), now })
  const denials = denialsOf(usage.refusals, query)
  const others = usage.others.refusal
  const { policy, revision, notes } = aboutPolicy(query)
  const document = dated({
    ...{ policy, revision, since: days[0] ?? '', observed: observed(observation) },
    refusals: denials.reduce((sum, each) => sum + each.count, others),
    others,
    denials: denials.slice(0, input.limit).map(({ verdict, last, ...denial }) => ({
      ...denial,
      last: new Date(last).toISOString(),
      ...(verdict !== undefined && {
        allowedNow: verdict.allowed,
        step: verdict.step,
        isUnserved: verdict.isUnserved,
        ...(verdict.decision?.rule !== undefined && { rule: verdict.decision.rule }),
      }),
    })),
    left: Math.max(0, denials.length - input.limit),
    notes,
  })
  return { document, shown: { policy: policyName(query) } }
}

/** An observation as documents have it. */
export function observed({ from, ...observation }: Observation) {
  return { ...observation, from: from === undefined ? null : new Date(from).toISOString() }
}

/** How many UTC days, today included, reach back to a time such as `12h`, `1d` or `2026-11-01`. */
function daysSince(text: string, now: number): number {
  const begin = sinceMs(text, now)
  const days = Math.floor(now / 86_400_000) - Math.floor(begin / 86_400_000) + 1
  if (days > KEPT_DAYS + 1) {
    throw new InvalidInput(
      'since',
      `counts are kept for ${KEPT_DAYS} days: give ${KEPT_DAYS}d or less`,
    )
  }
  return Math.min(days, KEPT_DAYS)
}
