import { methodsOf } from '../rule/methods.ts'
import { ANY_METHOD, type Rule } from '../rule/rule.ts'
import type { PolicySet } from '../set/policy-set.ts'
import { compile } from './compile.ts'
import type { Question } from './decision.ts'

/** What a decision costs under a model that Casbin evaluates, measured on this machine. */
export interface DecisionCost {
  /** CPU time. */
  readonly msPerDecision: number
  readonly decisions: number
  readonly rules: number
}

interface Measuring {
  /** A clock in milliseconds that only counts this program, whatever else the machine does. */
  readonly cpuMs: () => number
  readonly budgetMs?: number
}

/**
 * Times decisions by a policy for a fifth of a second. `undefined` for a policy that the index answers,
 * and for one without rules, where nothing is evaluated.
 */
export function measureDecisions(
  set: PolicySet,
  { cpuMs, budgetMs = usualBudgetMs }: Measuring,
): DecisionCost | undefined {
  if (set.model.casbin === undefined || set.rules.length === 0) return undefined
  const { engine } = compile(set)
  const questions = questionsAbout(set.rules)
  const begun = cpuMs()
  let first = 0
  let decisions = 0
  let spent = 0
  while (spent < budgetMs && decisions < mostDecisions) {
    engine.decide(questions[decisions % questions.length] as Question)
    decisions++
    spent = cpuMs() - begun
    if (decisions === 1) first = spent
  }
  // The first decision also compiles the code that decides.
  const msPerDecision = decisions === 1 ? first : (spent - first) / (decisions - 1)
  return { msPerDecision, decisions, rules: set.rules.length }
}

const usualBudgetMs = 200
const mostDecisions = 10_000

/** As many calls that a rule is about as calls that mix two rules, spread over the whole policy. */
function questionsAbout(rules: readonly Rule[]): readonly Question[] {
  const step = Math.max(1, Math.floor(rules.length / sampledRules))
  const sample = rules.filter((_, at) => at % step === 0).slice(0, sampledRules)
  return sample.flatMap((rule, at) => {
    const other = sample[(at + Math.ceil(sample.length / 2)) % sample.length] as Rule
    return [questionOf(rule, rule), questionOf(rule, other)]
  })
}

const sampledRules = 64

function questionOf({ roleKey, domain }: Rule, { path, method }: Rule): Question {
  const [first = ANY_METHOD] = methodsOf(method)
  return {
    roleKey,
    domain,
    method: first === ANY_METHOD || first === '' ? 'GET' : first,
    path: path === '' ? '/' : path.replaceAll(/:[\w-]+|\{[\w-]+\}/g, '7').replace(/\*$/, '7'),
  }
}
