import { isSeq, type ParsedNode } from 'yaml'
import type { Problem } from '../../kernel/errors.ts'
import { patternProblem } from '../rule/pattern.ts'
import { ANY_METHOD, METHODS, nameProblem, type Origin, quote } from '../rule/rule.ts'
import { type Complain, type Fields, fieldsOf, parseTexts, textOf } from '../rule/yaml-texts.ts'

/** The calls that a guardrail is about: some methods on the paths of a pattern. */
export interface GuardedCalls {
  /** As the file has it, such as `write /payroll/*`. */
  readonly text: string
  /** `*` alone for every method; `other` for all that no rule can name. */
  readonly methods: readonly string[]
  readonly path: string
}

/** What a policy must never do, whatever its rules say. */
type Demand =
  /** No role but these and `admin` may make one of the calls. */
  | { readonly kind: 'only'; readonly roles: readonly string[]; readonly calls: GuardedCalls }
  /** Separation of duties: no role may make calls of both, with all that it inherits. */
  | { readonly kind: 'never-both'; readonly pair: readonly [GuardedCalls, GuardedCalls] }
  /** No other route is public. */
  | { readonly kind: 'public-at-most'; readonly list: readonly GuardedCalls[] }
  | { readonly kind: 'route-tests' }
  /** Allow rules and `g` lines of these roles, or of all, expire within so many days. */
  | { readonly kind: 'grant-days'; readonly days: number; readonly roles?: readonly string[] }

/** One entry of `guardrails.yaml`. */
export type Guardrail = Demand & {
  /** What it demands, in one line. */
  readonly text: string
  readonly reason?: string
  readonly origin: Origin
}

/** Equal for guardrails that demand the same for the same reason. */
export function guardrailKey({ text, reason }: Guardrail): string {
  return JSON.stringify([text, reason])
}

/** Reads the guardrails of a policy: a YAML list. Reports what no policy could ever break or keep. */
export function parseGuardrails(
  file: { readonly name: string; readonly text: string },
  report: (problem: Problem) => void,
): readonly Guardrail[] {
  const parsed = parseTexts(file, report)
  if (parsed === undefined || parsed.contents === null) return []
  const { contents, placeOf, complain } = parsed
  if (!isSeq(contents)) {
    complain(undefined, `invalid guardrails: write a YAML list; ${forms}`)
    return []
  }
  return contents.items.flatMap((item) => {
    const fields = fieldsOf(item, entryForm, complain)
    const demand = fields && demandOf(fields, item, complain)
    const reason = fields?.reason && textOf('reason', fields.reason, complain)?.trim()
    if (demand === undefined || (fields?.reason !== undefined && reason === undefined)) return []
    const origin = Object.freeze({ file: file.name, line: placeOf(item).line })
    const said = reason === undefined ? {} : { reason }
    return [Object.freeze({ ...demand, ...said, text: describe(demand), origin })]
  })
}

const keys = [
  'only',
  'may',
  'nobody but admin',
  'never both',
  'public at most',
  'every route',
  'no grant longer than',
  'for',
  'reason',
] as const
type Key = (typeof keys)[number]

const forms =
  'each entry begins with "only", "nobody but admin", "never both", "public at most", "every route" or "no grant longer than"'

const entryForm = { keys, form: `invalid guardrail: write a mapping; ${forms}` }

/** The members that belong to each demand beside its first. */
const companions: Readonly<Partial<Record<Key, readonly Key[]>>> = {
  only: ['may'],
  'no grant longer than': ['for'],
}

function demandOf(fields: Fields<Key>, item: unknown, complain: Complain): Demand | undefined {
  const [name, ...others] = keys.filter((key) => fields[key] !== undefined && key !== 'reason')
  const node = name && fields[name]
  const stray = others.find((each) => name === undefined || !companions[name]?.includes(each))
  if (node === undefined || name === undefined || !isDemand(name)) {
    return complain(item, `incomplete guardrail: ${forms}`)
  }
  if (stray === undefined) return readers[name](node, { fields, complain })
  const message = `${stray} cannot be combined with ${quote(name)}: write an entry for each`
  return complain(fields[stray], message)
}

function isDemand(key: Key): key is keyof typeof readers {
  return Object.hasOwn(readers, key)
}

/** Returns the demand, or `undefined` after it has said what is wrong. */
type Reader = (
  node: ParsedNode,
  about: { readonly fields: Fields<Key>; readonly complain: Complain },
) => Demand | undefined

const readers: Readonly<Record<Exclude<Key, 'may' | 'for' | 'reason'>, Reader>> = {
  only(node, { fields: { may }, complain }) {
    if (may === undefined) complain(node, 'may is required: write "may: write /payroll/*"')
    const roles = rolesOf(node, complain)
    const calls = may && callsOf(may, complain)
    return roles && calls && { kind: 'only', roles, calls }
  },
  'nobody but admin'(node, { complain }) {
    const calls = callsOf(node, complain)
    return calls && { kind: 'only', roles: [], calls }
  },
  'never both'(node, { complain }) {
    const list = allOf(node, (item) => callsOf(item, complain))
    const [first, second, ...more] = list ?? []
    if (first !== undefined && second !== undefined && more.length === 0) {
      return { kind: 'never-both', pair: [first, second] }
    }
    const message = 'never both needs two entries, such as [POST /payments, POST /approvals]'
    return list && complain(node, message)
  },
  'public at most'(node, { complain }) {
    const list = allOf(node, (item) => callsOf(item, complain))
    return list && { kind: 'public-at-most', list }
  },
  'every route'(node, { complain }) {
    if (textOf('every route', node, complain)?.trim() === 'has a test')
      return { kind: 'route-tests' }
    return complain(node, 'every route must be "has a test"')
  },
  'no grant longer than'(node, { fields, complain }) {
    const text = textOf('the time', node, complain)?.trim() ?? ''
    const [, days] = /^([1-9]\d{0,4})d(?: without until)?$/.exec(text) ?? []
    if (days === undefined) complain(node, 'no grant longer than must be days, such as 90d')
    const roles = fields.for && rolesOf(fields.for, complain)
    if (days === undefined || (fields.for && roles === undefined)) return undefined
    return { kind: 'grant-days', days: Number(days), ...(roles && { roles }) }
  },
}

/** What each item of a list is; one text stands for a list of it. `undefined` if one of them is wrong. */
function allOf<Item>(
  node: ParsedNode,
  read: (item: ParsedNode) => Item | undefined,
): readonly Item[] | undefined {
  const items = isSeq(node) ? (node.items as ParsedNode[]) : [node]
  const found = items.map(read)
  const sound = found.filter((item) => item !== undefined)
  return sound.length === found.length ? sound : undefined
}

function rolesOf(node: ParsedNode, complain: Complain): readonly string[] | undefined {
  return allOf(node, (item) => {
    const role = textOf('a role key', item, complain)?.trim()
    const problem = role === '' ? 'role key must not be empty' : nameProblem('role key', role ?? '')
    return problem === undefined ? role : complain(item, problem)
  })
}

/** RFC 9110, section 9.2.1: they change nothing. */
const safe: readonly string[] = ['GET', 'HEAD', 'OPTIONS', 'TRACE']

/** `other` is for all that no rule can name, but `*`, routes and clients have, such as MKCOL. */
const groups: ReadonlyMap<string, readonly string[]> = new Map([
  ['read', ['GET', 'HEAD']],
  ['write', [...METHODS.filter((method) => !safe.includes(method)), 'other']],
  [ANY_METHOD, [ANY_METHOD]],
])

function callsOf(node: ParsedNode, complain: Complain): GuardedCalls | undefined {
  const text = textOf('a call', node, complain)?.trim()
  if (text === undefined) return undefined
  const [, named = '', path = ''] = /^(\S+) +(\S+)$/.exec(text) ?? []
  const names = named.split(',')
  const methods = names.flatMap((name) => groups.get(name) ?? [name])
  const isKnown = names.every((name) => groups.has(name) || METHODS.includes(name))
  const form = 'write "DELETE /users/*", with methods separated by commas, "read", "write" or "*"'
  const problem =
    named === '' || !isKnown
      ? `${quote(text)} is not a call: ${form}`
      : patternProblem(path, { keyMatch: true, keyMatch2: true })
  return problem === undefined ? { text, methods, path } : complain(node, problem)
}

function describe(demand: Demand): string {
  if (demand.kind === 'only') {
    const { roles, calls } = demand
    if (roles.length === 0) return `nobody but admin: ${calls.text}`
    return `only ${roles.join(', ')} may ${calls.text}`
  }
  if (demand.kind === 'never-both')
    return `never both: ${demand.pair.map(({ text }) => text).join(', ')}`
  if (demand.kind === 'public-at-most') {
    return `public at most: ${demand.list.map(({ text }) => text).join(', ') || 'nothing'}`
  }
  if (demand.kind === 'route-tests') return 'every route has a test'
  const { days, roles } = demand
  return `no grant longer than ${days}d${roles === undefined ? '' : ` for ${roles.join(', ')}`}`
}
