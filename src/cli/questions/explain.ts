import { assumedHostNote } from '../../admission/asked-hosts.ts'
import { forwardAuthRefusal } from '../../admission/forward-auth.ts'
import {
  evaluate,
  evaluateUnidentified,
  type TokenProblem,
  type Verdict,
} from '../../admission/verdict.ts'
import { rolesIn } from '../../answers/asked.ts'
import { didYouMean } from '../../kernel/suggest.ts'
import { askedTarget } from '../../operations/policy/asked-host.ts'
import {
  type AskedPolicy,
  askedPolicy,
  checkAsked,
  policyName,
} from '../../operations/policy/asked-policy.ts'
import { dated } from '../../operations/policy/dated.ts'
import { type PolicySettings, policySettings } from '../../operations/policy-settings.ts'
import type { Question } from '../../policy/engine/decision.ts'
import { explain } from '../../policy/explain.ts'
import { methodProblem } from '../../policy/rule/rule.ts'
import type { PolicySet } from '../../policy/set/policy-set.ts'
import { type Call, type Run, UsageError } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { json } from '../format.ts'
import type { Io } from '../io.ts'
import { noteLines } from '../view.ts'
import type { AskedCaller } from './asked-caller.ts'
import { asJson, type Explanation, formatExplanation } from './explanation.ts'
import { checkCaller, findCaller } from './find-caller.ts'
import type { explainSpec } from './specs.ts'

type ExplainCall = Call<typeof explainSpec>

/** Shows whether a caller may make a call, and why. */
export const policyExplain: Run<typeof explainSpec> = async (call, io) => {
  const { options } = call
  checkCaller(options)
  checkAsked(options)
  if (options.anonymous && (options.policies ?? options.revision) !== undefined) {
    throw new UsageError('--anonymous asks no policy: leave out --policies and --revision')
  }
  const [role] = call.arguments
  const caller = await findCaller({ ...options, role }, io)
  const answer = await explained(call, caller, io)

  if (options.output === 'json') io.out(json(dated(asJson(answer))))
  else {
    io.out(formatExplanation(answer))
    io.err(noteLines(answer.notes))
  }
  return answer.verdict.allowed ? exitCodes.done : exitCodes.no
}

async function explained(call: ExplainCall, caller: AskedCaller, io: Io): Promise<Explanation> {
  const {
    options,
    arguments: [, method, given],
  } = call
  const { path, host } = askedTarget(given, options.host)
  const { settings, ...answer } =
    caller.roleKey === undefined
      ? withoutPolicy({ method, path, host }, caller.problem, policySettings(options.config, io))
      : byPolicy(
          { roleKey: caller.roleKey, method, path, host },
          await askedFor(caller, { ...options, host }, io),
        )
  const more = [methodProblem(method), proxyNote(path, answer.verdict, settings)]
  const notes = [...caller.notes, ...answer.notes, ...more.filter((each) => each !== undefined)]
  return { caller, method, target: path, ...answer, notes }
}

/** A token brings its domain, or none, as in the gateway. */
function askedFor(
  { domain }: Extract<AskedCaller, { readonly roleKey: string }>,
  options: ExplainCall['options'],
  io: Io,
): Promise<AskedPolicy> {
  if (domain === undefined) return askedPolicy(options, io)
  return askedPolicy({ ...options, domain: options.domain ?? domain ?? undefined }, io, 'token')
}

function byPolicy(question: Question, asked: AskedPolicy) {
  const { admission, policies, whole, settings, name, notes } = asked
  const verdict = evaluate(question, admission, policies)
  const read = { ...question, path: verdict.path ?? '' }
  const nearMisses = verdict.decision === undefined ? [] : explain(read, policies).nearMisses
  const policy = { name, words: policyName(asked), revision: policies.revision }
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
