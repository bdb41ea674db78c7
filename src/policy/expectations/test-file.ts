import { isMap, isScalar, isSeq } from 'yaml'
import type { Problem } from '../../kernel/errors.ts'
import { canonicalPath, everyAllowance } from '../rule/canonical-path.ts'
import { methodProblem, quote } from '../rule/rule.ts'
import { parseUntil } from '../rule/until.ts'
import { parseTexts, textsOf } from '../rule/yaml-texts.ts'
import { reportByteOrderMarks } from '../set/byte-order-mark.ts'
import { type Answer, answerSteps, type Expectation } from './test-suite.ts'

const keys = [
  ...(['role', 'anonymous', 'domain', 'method', 'path', 'expect'] as const),
  ...(['step', 'at', 'reason', 'withoutRules', 'host'] as const),
] as const
type Key = (typeof keys)[number]
type WrittenTest = { readonly [key in Key]?: string }

/**
 * Reads a test file: a YAML list of `role` (or `anonymous`), `method`, `path` and `expect`, with
 * `host`, `domain`, `step`, `at`, `reason` and `withoutRules` if wanted. Reports everything that would make
 * a test pass without testing anything:
 * paths and methods that no request can have, unknown keys, a file without expectations.
 */
export function parseTestFile(
  file: { readonly name: string; readonly text: string },
  report: (problem: Problem) => void,
): readonly Expectation[] {
  reportByteOrderMarks(file, report)
  const parsed = parseTexts(file, report)
  if (parsed === undefined) return []
  const { contents, placeOf, complain } = parsed
  if (!isSeq(contents) || contents.items.length === 0) {
    complain(undefined, `no tests: write a YAML list, ${form}`)
    return []
  }
  return contents.items.flatMap((item) => {
    const entry = textsOf(item, entryForm, complain)
    const problems = entry === undefined ? [] : testProblems(entry)
    for (const [key, message] of problems) complain(placeNode(item, key), message)
    return entry === undefined || problems.length > 0 ? [] : [expectationOf(entry, placeOf(item))]
  })
}

const form = 'each entry with role, method, path and "expect: allow" or "expect: deny"'

const entryForm = { keys, form: `invalid test: write a mapping, ${form}` }

function testProblems(entry: WrittenTest) {
  const { method, path, host, expect, step, at, withoutRules } = entry
  const problems: readonly (readonly [Key, string | undefined])[] = [
    ['role', callerProblem(entry)],
    ['domain', entry.domain === '' ? 'domain must not be empty' : undefined],
    ['method', methodProblem(method ?? '')],
    ['path', pathProblem(path ?? '')],
    [
      'expect',
      expect === 'allow' || expect === 'deny' ? undefined : 'expect must be allow or deny',
    ],
    [
      'step',
      step === undefined || isStep(step)
        ? undefined
        : `step must be one of ${answerSteps.join(', ')}`,
    ],
    ['at', at === undefined ? undefined : timeProblem(at)],
    ['host', host === undefined ? undefined : hostProblem(host)],
    [
      'withoutRules',
      /^(?:true|false)?$/.test(withoutRules ?? '')
        ? undefined
        : 'withoutRules must be true or false',
    ],
  ]
  return problems.flatMap(([key, message]) =>
    message === undefined ? [] : [[key, message] as const],
  )
}

function callerProblem({ role, anonymous }: WrittenTest): string | undefined {
  if (anonymous === undefined) return role ? undefined : 'role is required'
  if (anonymous !== 'true') return 'anonymous must be true: leave it out for a caller with a role'
  return role === undefined ? undefined : 'a caller without a token has no role: remove one of them'
}

function pathProblem(path: string): string | undefined {
  const canonical = canonicalPath(path, everyAllowance)
  if (canonical === path) return undefined
  if (canonical !== undefined) {
    return `path ${quote(path)} is not canonical: write ${quote(canonical)}, the form that the policy is checked with`
  }
  const why = path.includes('?') ? 'remove the query' : 'the gateway rejects it with 400'
  return `path ${quote(path)} never reaches the permission check: ${why}`
}

/** Names only: the routes of a gateway say which of them it serves. */
function hostProblem(host: string): string | undefined {
  if (/^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])$/.test(host)) return undefined
  return `host ${quote(host)} must be a name in lower case without port, such as api.example.com`
}

function timeProblem(text: string): string | undefined {
  const time = parseUntil(text)
  return typeof time === 'string' ? time : undefined
}

function isStep(text: string): text is Answer['step'] {
  return (answerSteps as readonly string[]).includes(text)
}

/** The value of a key, to report its place; the entry itself if the key is missing. */
function placeNode(item: unknown, name: Key): unknown {
  if (!isMap(item)) return item
  return item.items.find(({ key }) => isScalar(key) && key.value === name)?.value ?? item
}

function expectationOf(entry: WrittenTest, at: Expectation['at']): Expectation {
  const {
    role,
    domain,
    method = '',
    path = '',
    host,
    expect,
    step,
    at: text,
    reason,
    withoutRules,
  } = entry
  const time = text === undefined ? undefined : parseUntil(text)
  return {
    ...(role !== undefined && { role }),
    ...(domain !== undefined && { domain }),
    method,
    path,
    ...(host !== undefined && { host }),
    expect: expect === 'allow' ? 'allow' : 'deny',
    withoutRules: withoutRules === 'true',
    at,
    ...(typeof time === 'number' && { time }),
    ...(step !== undefined && isStep(step) && { step }),
    ...(reason !== undefined && { reason }),
  }
}
