import { assumedHostNote } from '../../admission/example-hosts.ts'
import { forwardAuthRefusal } from '../../admission/forward-auth.ts'
import {
  evaluate,
  evaluateUnidentified,
  type TokenProblem,
  type Verdict,
} from '../../admission/verdict.ts'
import { rolesIn } from '../../answers/query-scope.ts'
import { didYouMean } from '../../kernel/suggest.ts'
import type { Question } from '../../policy/engine/decision.ts'
import { explain } from '../../policy/explain.ts'
import { methodProblem } from '../../policy/rule/rule.ts'
import type { PolicySet } from '../../policy/set/policy-set.ts'
import type { Context } from '../context.ts'
import { InvalidInput } from '../invalid-input.ts'
import type { InputOf, RunOf } from '../operation.ts'
import { type PolicySettings, policySettings } from '../policy-settings.ts'
import type { policyExplain } from './descriptions.ts'
import { documentOf, type ExplainExtras, type Explanation, shownOf } from './explanation.ts'
import { checkCaller, findCaller } from './find-caller.ts'
import { checkQuery, findPolicy, type PolicyQuery, policyName } from './policy-query.ts'
import type { QueryCaller } from './query-caller.ts'
import { queryTarget } from './query-target.ts'

type Input = InputOf<(typeof policyExplain)['input']>

/** Shows whether a caller may make a call, and why. */
export const run: RunOf<typeof policyExplain, ExplainExtras> = async (input, context) => {
  checkCaller(input)
  checkQuery(input)
  if (input.anonymous && (input.policies ?? input.revision) !== undefined) {
    throw new InvalidInput(
      undefined,
      '--anonymous asks no policy: leave out --policies and --revision',
    )
  }
  const explanation = await explained(input, await findCaller(input, context), context)
  return {
    document: documentOf(explanation),
    outcome: explanation.verdict.allowed ? 'done' : 'no',
    shown: shownOf(explanation),
  }
}

async function explained(
  input: Input,
  caller: QueryCaller,
  context: Context,
): Promise<Explanation> {
  const { method } = input
  const { path, host } = queryTarget(input.path, input.host)
  const { settings, ...answer } =
    caller.roleKey === undefined
      ? withoutPolicy(
          { method, path, host },
          caller.problem,
          policySettings(context.configFile, context),
        )
      : byPolicy(
          { roleKey: caller.roleKey, method, path, host },
          await askedFor(caller, { ...input, host }, context),
        )
  const more = [methodProblem(method), proxyNote(path, answer.verdict, settings)]
  const notes = [...caller.notes, ...answer.notes, ...more.filter((each) => each !== undefined)]
  return { caller, method, target: path, ...answer, notes }
}

/** A token brings its domain, or none, as in the gateway. */
function askedFor(
  { domain }: Extract<QueryCaller, { readonly roleKey: string }>,
  input: Input,
  context: Context,
): Promise<PolicyQuery> {
  const options = { ...input, config: context.configFile }
  if (domain === undefined) return findPolicy(options, context)
  return findPolicy({ ...options, domain: input.domain ?? domain ?? undefined }, context, 'token')
}

function byPolicy(question: Question, query: PolicyQuery) {
  const { admission, policies, whole, settings, name, notes } = query
  const verdict = evaluate(question, admission, policies)
  const read = { ...question, path: verdict.path ?? '' }
  const nearMisses = verdict.decision === undefined ? [] : explain(read, policies).nearMisses
  const policy = { name, words: policyName(query), revision: policies.revision }
  const role = verdict.step === 'none' ? unknownRole(question.roleKey, whole) : []
  return { verdict, admission, settings, notes: [...notes, ...role], nearMisses, policy }
}

/** Most often a mistyped role, or one that has no rules yet. */
function unknownRole(roleKey: string, set: PolicySet): readonly string[] {
  const roles = rolesIn(set)
  // Only its matcher knows which roles a model that Casbin evaluates allows.
  if (roles.includes(roleKey) || set.model.casbin !== undefined) return []
  return [
    `the policy does not name the role ${JSON.stringify(roleKey)}${didYouMean(roleKey, roles)}`,
  ]
}

/** No policy decides about a caller whom the gateway does not identify, so none is read. */
function withoutPolicy(
  call: Omit<Question, 'roleKey'>,
  problem: TokenProblem,
  settings: PolicySettings,
) {
  const { admission, note } = settings.admission()
  const verdict = evaluateUnidentified(call, problem, admission)
  const hostNote = assumedHostNote({ ...admission, assumedHost: call.host })
  const notes = [note, hostNote].filter((each) => each !== undefined)
  return { verdict, admission, settings, notes, nearMisses: [] }
}

/** Where forward-auth answers otherwise than the public port. */
function proxyNote(
  target: string,
  verdict: Verdict,
  { config }: PolicySettings,
): string | undefined {
  if (config?.forwardAuth.enabled !== true || verdict.need === undefined) return undefined
  const refused = forwardAuthRefusal(target, verdict)
  if (refused === undefined) return undefined
  const status = refused.refusal === 'no-such-endpoint' ? 404 : 400
  return `forward-auth answers ${status} to this request: ${refused.reason}`
}
