import { evaluate, type Verdict } from '../../admission/verdict.ts'
import { inDomain } from '../../answers/in-domain.ts'
import { Fault, Invalid } from '../../kernel/errors.ts'
import { compileAt } from '../../policy/engine/compile.ts'
import type { CompiledPolicies } from '../../policy/engine/decision.ts'
import { type PolicySet, parsePolicySet } from '../../policy/set/policy-set.ts'
import { decline } from '../declined.ts'
import type { DocumentOf, RunOf } from '../operation.ts'
import type { policyBlame } from './descriptions.ts'
import { pastVersions, Unreadable } from './past-versions.ts'
import { aboutPolicy, findPolicy, policyName } from './policy-query.ts'
import { queryTarget } from './query-target.ts'
import { lineOf } from './rule-line.ts'
import { stepOf } from './verdict-words.ts'

type Document = DocumentOf<typeof policyBlame>

/** Shows since when a role may or may not make a call: reads back until another version decided otherwise. */
export const run: RunOf<typeof policyBlame, string> = async (input, context) => {
  const { role: roleKey, method } = input
  const { path, host } = queryTarget(input.path, input.host)
  const query = await findPolicy({ ...input, host, config: context.configFile }, context)
  const { admission, domain, whole, files, at: now } = query
  const decide = (policies: CompiledPolicies) =>
    evaluate({ roleKey, method, path, host }, admission, policies)
  const { allowed, decision } = decide(query.policies)
  if (decision === undefined || decision.step === 'admin') {
    decline('no policy decides about this call: "postern policy explain" shows what does')
  }

  const changes: Document['changes'][number][] = []
  let before: Document['before'] = null
  let problem: string | undefined
  let end = now
  let newerKey = ''
  try {
    versions: for await (const { files: each, at, about } of pastVersions(query, context)) {
      const set = each === files ? whole : parsePolicySet(each)
      const begin = at === undefined ? end : Date.parse(at)
      for (const moment of momentsOf(set, begin, end)) {
        const policies = compileAt(set, moment)
        const verdict = decide(domain === undefined ? policies : inDomain(policies, domain))
        const [decided, key] = decidedBy(verdict)
        if (verdict.allowed !== allowed) {
          before = decided
          break versions
        }
        // The newer version did not bring this line.
        if (key === newerKey) changes.pop()
        newerKey = key
        const usual = about.commit === undefined ? 'published' : 'committed'
        const cause = moment > begin ? 'expired' : at === undefined ? 'uncommitted' : usual
        const since = at === undefined ? null : new Date(moment).toISOString()
        changes.push({ ...decided, at: since, cause, revision: set.revision, ...about })
      }
      end = begin
    }
  } catch (error) {
    const isKnown = [Unreadable, Fault, Invalid].some((kind) => error instanceof kind)
    if (!isKnown || !(error instanceof Error) || changes.length === 0) throw error
    problem = `older versions cannot be read: ${error.message}`
  }
  const isComplete = problem === undefined
  const more = aboutPolicy(query, problem === undefined ? [] : [problem])
  const document = { roleKey, method, path, allowed, changes, before, isComplete, ...more }
  return { document, outcome: allowed ? 'done' : 'no', shown: policyName(query) }
}

/** When a version may decide otherwise, the latest first: as lines expire, and at its begin. */
function momentsOf(set: PolicySet, begin: number, end: number): readonly number[] {
  const lines = [...set.rules, ...set.inheritances, ...set.exclusions]
  const ends = lines.flatMap(({ until }) => until ?? [])
  const within = new Set(ends.filter((until) => until > begin && until < end))
  return [...[...within].sort((a, b) => b - a), begin]
}

/** Also what is equal for a line that only moved within its file. */
function decidedBy(verdict: Verdict) {
  const { step, decision: { rule, exclusion } = {} } = verdict
  const line = rule ?? exclusion
  // The commit stands beside it.
  const shown = line && lineOf(line).replace(/^git:[0-9a-f]{40,64}:/, '')
  const key = line === undefined ? step : lineOf({ ...line, origin: { file: step, line: 0 } })
  return [{ step, line: shown ?? stepOf(verdict) }, key] as const
}
