import { denialsOf } from '../../../answers/usage/denials.ts'
import { observationOf } from '../../../answers/usage/observation.ts'
import { askedPolicy } from '../../../operations/policy/asked-policy.ts'
import { lastDays } from '../../../policy/usage/usage.ts'
import type { Run } from '../../command.ts'
import { json } from '../../format.ts'
import { printNotes } from '../../questions/notes.ts'
import { type DenialsReport, denialsAsJson, formatDenials } from './denials-text.ts'
import { daysSince } from './since.ts'
import type { denialsSpec } from './specs.ts'
import { readUsage } from './stored-usage.ts'

/** Lists the most frequent refusals, and what would allow them. */
export const policyDenials: Run<typeof denialsSpec> = async ({ options }, io) => {
  const now = io.now?.() ?? Date.now()
  const days = lastDays(daysSince(options.since, now), now)
  const asked = await askedPolicy(options, io, 'optional')
  const usage = await readUsage(asked.settings, { days, kinds: ['refusal'] }, io)
  const report: DenialsReport = {
    asked,
    since: days[0] ?? '',
    observation: observationOf(usage, { begin: Date.parse(days[0] ?? ''), now }),
    denials: denialsOf(usage.refusals, asked),
    others: usage.others.refusal,
    limit: options.limit,
  }
  io.out(options.output === 'json' ? json(denialsAsJson(report)) : formatDenials(report))
  if (options.output === 'text') printNotes(asked.notes, io)
  return 0
}
