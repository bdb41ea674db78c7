import { observationOf } from '../../../answers/usage/observation.ts'
import { unusedOf } from '../../../answers/usage/unused.ts'
import { type AskedPolicy, askedPolicy } from '../../../operations/policy/asked-policy.ts'
import { readUsage } from '../../../operations/policy/stored-usage.ts'
import { DAY_MS, lastDays } from '../../../policy/usage/usage.ts'
import { type Run, UsageError } from '../../command.ts'
import { json } from '../../format.ts'
import { noteLines } from '../../view.ts'
import { findBaseline } from './baseline.ts'
import type { unusedSpec } from './specs.ts'
import { formatUnused, type UnusedReport, unusedAsJson } from './unused-text.ts'
import { candidateAsJson, formatCandidate, writeCandidate } from './write-candidate.ts'

/** Lists what no request has used, and writes a policy without it. */
export const policyUnused: Run<typeof unusedSpec> = async ({ options }, io) => {
  const { days, write, force, output } = options
  if (force && write === undefined) throw new UsageError('--force needs --write DIR')
  const asked = withCasbinNote(await askedPolicy(options, io, 'optional'))
  const kinds = ['decision', 'role'] as const
  const now = io.now?.() ?? Date.now()
  // Counts are by UTC day, so that of the begin is read as a whole.
  const usage = await readUsage(asked.settings, { days: lastDays(days + 1, now), kinds }, io)
  const observation = observationOf(usage, { begin: now - days * DAY_MS, now })
  const baseline = await findBaseline(options.baseline, observation, asked, io)
  const answer = unusedOf(asked.whole, usage, { before: baseline.sets, now })
  const report: UnusedReport = {
    asked,
    answer,
    observation,
    baseline,
    otherRoles: usage.others.role,
  }

  if (output === 'text') io.out(formatUnused(report))
  const written =
    write === undefined ? undefined : await writeCandidate(report, { directory: write, force }, io)
  if (output === 'json') {
    const candidate = written && candidateAsJson(written)
    io.out(json({ ...unusedAsJson(report), ...(candidate && { candidate }) }))
  } else if (written !== undefined) io.out(formatCandidate(written))
  io.err(noteLines(asked.notes))
  return 0
}

function withCasbinNote(asked: AskedPolicy): AskedPolicy {
  if (asked.whole.model.casbin === undefined) return asked
  const note =
    'Casbin evaluates this model, and only its matcher knows which roles it allows: a role may need no rule that names it'
  return { ...asked, notes: [...asked.notes, note] }
}
