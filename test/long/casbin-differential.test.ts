import { randomInt } from 'node:crypto'
import { METHODS as NODE_METHODS } from 'node:http'
import { type Enforcer, newEnforcer, newModelFromString, StringAdapter } from 'casbin'
import { describe, expect, test } from 'vitest'
import { decide, type Question } from '../../src/policy/decide.ts'
import { compile } from '../../src/policy/engine/compile.ts'
import type { CasbinModel, Column } from '../../src/policy/model/columns.ts'
import type { Model } from '../../src/policy/model/model.ts'
import { canonicalPath } from '../../src/policy/rule/canonical-path.ts'
import { methodListProblem, methodsOf } from '../../src/policy/rule/methods.ts'
import { formatModel } from '../../src/policy/set/format.ts'
import { type PolicySet, parsePolicySet } from '../../src/policy/set/policy-set.ts'
import { casbinModels } from '../policy/casbin-models.ts'
import { formatPolicyFiles } from '../policy/format-policy.ts'
import { policyFiles, shippedModel } from '../policy/policy-text.ts'

/**
 * Where we are stricter than casbin on purpose.
 *
 * The index answers no where casbin, which makes regular expressions of patterns, answers yes; these
 * are the marks of such a pattern (`src/policy/rule/pattern.ts`):
 * - a dot matches a dot only;
 * - a colon inside a segment is a colon, also behind a parameter;
 * - `text*` under a model with keyMatch2 is a prefix, not a repetition of its last character.
 *
 * Refused at load, with file and line, and so never compared:
 * - patterns with regular expression characters (`|`, `(`, `[`, `+` and so on), with `*` before the
 *   end, with `:` or `{` that is no parameter, and in spellings that no canonical path has;
 * - lines with too few or too many columns, empty fields, unknown types, methods that no request has;
 * - inheritance in a circle or over more than ten generations;
 * - a regexMatch on anything but whole methods (`src/policy/rule/methods.ts`);
 * - under a model that casbin answers, the three marks above (`src/policy/model/casbin-values.ts`);
 * - models with eval(), with functions or operators that are not on the list, with an effect that
 *   allows by default or by subject, and those that do not look at role, path and method
 *   (`src/policy/model/casbin-columns.ts`).
 *
 * Without rules nobody but admin is allowed anything, whatever the matcher says of empty columns.
 */
const stricterMark = /\.|[^/]:|[^/]\*$/

const policyCount = 500
const questionsPerPolicy = 110

/** A new one for each run; `SEED=…` repeats the run that printed it. */
function chooseSeed(): number {
  return Number(process.env['SEED'] ?? randomInt(2 ** 31))
}

/** Small, fast and repeatable (mulberry32); `below(n)` is 0 … n - 1. */
function createRandom(seed: number) {
  let state = seed
  const below = (limit: number) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit
  }
  const pick = <T>(from: readonly T[]) => from[below(from.length)] as T
  const many = <T>(count: number, make: () => T) => Array.from({ length: count }, make)
  return { below, pick, many, chance: (percent: number) => below(100) < percent }
}
type Random = ReturnType<typeof createRandom>

const roles = ['editor', 'viewer', 'clerk', 'lead', 'guest', 'bot']
const methods = ['GET', 'POST', 'PUT', 'DELETE', 'HEAD']
const plainWords = [
  'api',
  'v1',
  'a',
  'b',
  'ab',
  'aab',
  'orders',
  'order',
  '~x',
  'x-y',
  'a%20b',
  "it's",
  'a=b',
]
const markedWords = [...plainWords, 'v1.json', 'v1Xjson', '.hidden', 'a:b', 'a:bc', 'aXb']

/** A model, and the text of one that may also have lists of methods and superusers. */
interface RandomModel {
  readonly model: Model
  readonly text: string
  readonly lists: boolean
  /** Whether `*` means every method. */
  readonly star: boolean
}

function randomModel({ chance, pick }: Random): Model {
  const effects = [
    { effectColumn: false, denyOverrides: false },
    { effectColumn: true, denyOverrides: false },
    { effectColumn: true, denyOverrides: true },
  ]
  const path = { keyMatch: chance(60), keyMatch2: chance(75) }
  return { inheritance: chance(50), path, anyMethod: chance(70), ...pick(effects) }
}

/** The method by a list of methods, beside `*` and the plain comparison in every order. */
const listMatchers = [
  { star: false, text: 'regexMatch(r.act, p.act)' },
  { star: false, text: '(r.act == p.act || regexMatch(r.act, p.act))' },
  { star: true, text: '(p.act == "*" || regexMatch(r.act, p.act))' },
  { star: true, text: '(r.act == p.act || p.act == "*" || regexMatch(r.act, p.act))' },
]

/** Adds a list of methods and superusers to a model of the index grammar. */
function extended(random: Random, model: Model): RandomModel {
  const { chance, pick, many, below } = random
  const list = chance(50) ? pick(listMatchers) : undefined
  const superuser = () => {
    const name = pick([...roles, 'root', 'admin2'])
    return model.inheritance && chance(50) ? `g(r.sub, "${name}")` : `r.sub == "${name}"`
  }
  const text = formatModel(model).replace(/^m = (.*)$/m, (_, plain: string) => {
    const rules =
      list === undefined ? plain : plain.replace(/\(?r\.act == p\.act.*$/, () => list.text)
    const clauses = many(chance(50) ? 1 + below(2) : 0, superuser)
    const before = chance(50) ? clauses.splice(0, 1) : []
    const core = chance(50) ? `(${rules})` : rules
    return `m = ${[...before, core, ...clauses].join(' || ')}`
  })
  return { model, text, lists: list !== undefined, star: list?.star ?? model.anyMethod }
}

const listed = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']

/** A regular expression that is a list of methods; most are valid, the others are not used. */
function randomList(random: Random): string {
  const { chance, pick, many, below } = random
  if (chance(15)) return pick(['.*', '.+', '^.*$', '(.*)', '^(.+)$'])
  const alternative = () => {
    const names = many(1 + below(3), () => pick(listed)).join('|')
    const group = chance(50) ? `(${names})` : chance(30) ? `(?:${names})` : pick(listed)
    return `${chance(40) ? '^' : ''}${group}${chance(40) ? '$' : ''}`
  }
  const list = many(1 + below(3), alternative).join('|')
  return methodListProblem(list) === undefined ? list : '^(GET|PATCH)$'
}

function randomPattern(
  { below, chance, pick, many }: Random,
  model: Model,
  marked: boolean,
): string {
  const words = marked ? markedWords : plainWords
  const { keyMatch, keyMatch2 } = model.path
  const segments = many(1 + below(4), () =>
    keyMatch2 && chance(30) ? `:${pick(['id', 'x'])}` : pick(words),
  )
  const path = `/${segments.join('/')}`
  if (chance(10)) return `${path}/`
  if (chance(25) && (keyMatch || keyMatch2)) return `${path}/*`
  const prefixes = keyMatch && (marked || !keyMatch2) && !path.includes('/:')
  return prefixes && chance(30) && !path.endsWith('.') ? `${path}*` : path
}

function randomPolicy(
  random: Random,
  { model, text, lists, star }: RandomModel,
  marked: boolean,
): PolicySet {
  const { below, chance, pick, many } = random
  const rules = many(1 + below(14), () => {
    const method = star && chance(20) ? '*' : lists ? randomList(random) : pick(methods)
    const effect = model.denyOverrides && chance(30) ? ', deny' : ''
    return `p, ${pick(roles)}, ${randomPattern(random, model, marked)}, ${method}${effect}`
  })
  // Parents come later in the list, so that there is no circle.
  const heirs = many(model.inheritance ? below(5) : 0, () => {
    const child = below(roles.length - 1)
    return `g, ${roles[child]}, ${roles[child + 1 + below(roles.length - child - 1)]}`
  })
  return parsePolicySet(policyFiles({ modelText: text, lines: [...rules, ...heirs] }))
}

/** A question near a rule of the policy, so that hits and near misses are common. */
function randomQuestion(random: Random, { rules }: PolicySet): Question {
  const { chance, pick } = random
  const near = pick(rules)
  return {
    roleKey: chance(60) ? near.roleKey : pick([...roles, 'root', 'unknown']),
    method: chance(60) ? randomMethod(random, near.method) : pick([...NODE_METHODS, 'get', 'Get']),
    path: randomPath(random, near.path),
  }
}

/** One that the text in the method column matches, mostly. */
function randomMethod({ pick }: Random, text: string): string {
  const method = pick(methodsOf(text))
  return method === '*' ? pick(methods) : method
}

function randomPath({ below, chance, pick }: Random, pattern: string): string {
  const segments = pattern
    .replaceAll(/:(?:id|x)\b|\{(?:id|x)\}/g, () => pick([...markedWords, '7']))
    .replace(/\*$/, () => pick(['', '', 'x', 'a/b', '*']))
    .split('/')
    .slice(1)
  if (chance(15)) segments[below(segments.length)] = pick(markedWords)
  if (chance(10)) segments.push(pick(markedWords))
  if (chance(10)) segments.pop()
  if (chance(5)) segments.push('')
  const path = `/${segments.join('/')}`
  const cut = chance(10) ? path.slice(0, -1) : path
  return canonicalPath(cut) === cut ? cut : '/a'
}

/** A value for a column, of the form that the matcher gives it. */
function randomValue(random: Random, { name, uses, literals }: Column): string {
  const { below, chance, pick } = random
  if (literals.length > 0 && chance(20)) return pick(literals)
  if (name === 'eft') return pick(['allow', 'allow', 'deny'])
  if (name === 'priority') return String(below(4))
  if (name === 'dom') return pick(['north', 'south'])
  if (name === 'sub') return uses.includes('prefix') ? pick([...roles, 'e*', 'g*']) : pick(roles)
  if (uses.includes('regexMatch')) return pick(['GET', '(GET)|(POST)', '^(PUT|PATCH)$', '.*'])
  if (uses.includes('method')) return pick(methods)
  if (uses.length === 0) return pick(['sales', '/a', '/a/b'])
  const keyMatch2 = uses.includes('keyMatch2') || uses.includes('keyMatch3')
  const path = { keyMatch: !keyMatch2, keyMatch2 }
  const pattern = randomPattern(random, { ...shippedModel, path }, false)
  return uses.includes('keyMatch3') ? pattern.replaceAll(/:(\w+)/g, '{$1}') : pattern
}

/** Lines for a model that casbin answers. */
function randomLines(random: Random, { columns, relations }: CasbinModel): readonly string[] {
  const { below, chance, pick, many } = random
  const rules = many(1 + below(14), () =>
    ['p', ...columns.map((column) => randomValue(random, column))].join(', '),
  )
  const links = relations.flatMap(({ name, places }) =>
    many(below(5), () => {
      const child = below(roles.length - 1)
      const parent = child + 1 + below(roles.length - child - 1)
      const names = name === 'g' ? [roles[child], roles[parent]] : [pick(['/a', '/a/b']), 'sales']
      return [name, ...names, ...(places === 3 ? [chance(50) ? 'north' : 'south'] : [])].join(', ')
    }),
  )
  return [...rules, ...links]
}

async function enforcerOf(set: PolicySet): Promise<Enforcer> {
  const lines = formatPolicyFiles(set).find(({ name }) => name === 'policy.csv')?.text ?? ''
  return newEnforcer(newModelFromString(formatModel(set.model)), new StringAdapter(lines))
}

async function compare(
  seed: number,
  { marked, more = false }: { marked: boolean; more?: boolean },
) {
  const random = createRandom(seed)
  const seen = { questions: 0, allowed: 0, wider: [] as string[], stricter: [] as string[] }
  for (let policy = 0; policy < (more ? policyCount / 2 : policyCount); policy++) {
    const model = { ...randomModel(random), ...(marked ? { denyOverrides: false } : {}) }
    const plain = { model, text: formatModel(model), lists: false, star: model.anyMethod }
    const set = randomPolicy(random, more ? extended(random, model) : plain, marked)
    expect(set.model.casbin).toBe(undefined)
    const enforcer = await enforcerOf(set)
    const compiled = compile(set)
    for (let count = 0; count < questionsPerPolicy; count++) {
      const question = randomQuestion(random, set)
      const { roleKey, path, method } = question
      const ours = decide(question, compiled).allowed
      const [casbins, row] = enforcer.enforceExSync(roleKey, path, method)
      seen.questions++
      if (ours) seen.allowed++
      if (ours === casbins) continue
      const difference = JSON.stringify({ question, model: set.model, row, rules: set.rules })
      if (ours) seen.wider.push(difference)
      else seen.stricter.push(stricterMark.test(row[1] ?? '') ? 'marked' : difference)
    }
  }
  return seen
}

describe('the index beside casbin', () => {
  test('gives the same answer to every question about patterns that casbin reads as we do', async () => {
    const seed = chooseSeed()
    console.info(`casbin differential, seed ${seed}`)

    const { questions, allowed, wider, stricter } = await compare(seed, { marked: false })

    expect({ seed, wider: wider.slice(0, 3), stricter: stricter.slice(0, 3) }).toEqual({
      seed,
      wider: [],
      stricter: [],
    })
    expect(questions).toBeGreaterThanOrEqual(50_000)
    // Random questions prove little when nearly all of them are refused.
    expect(allowed / questions).toBeGreaterThan(0.2)
  })

  test('gives the same answer about lists of methods and superusers', async () => {
    const seed = chooseSeed()
    console.info(`casbin differential with lists and superusers, seed ${seed}`)

    const { questions, allowed, wider, stricter } = await compare(seed, {
      marked: false,
      more: true,
    })

    expect({ seed, wider: wider.slice(0, 3), stricter: stricter.slice(0, 3) }).toEqual({
      seed,
      wider: [],
      stricter: [],
    })
    expect(allowed / questions).toBeGreaterThan(0.2)
  })

  test('is stricter only for the patterns on the list, and never wider', async () => {
    const seed = chooseSeed()
    console.info(`casbin differential with marked patterns, seed ${seed}`)

    const { wider, stricter } = await compare(seed, { marked: true })

    expect({ seed, wider: wider.slice(0, 3) }).toEqual({ seed, wider: [] })
    expect(stricter.filter((difference) => difference !== 'marked').slice(0, 3)).toEqual([])
    expect(stricter.length).toBeGreaterThan(0)
  })

  test('reads lines into the columns that casbin reads', async () => {
    const lines = [
      'p, "clerk, north", "/a,b", GET',
      ' p ,lead (east),  /x ,"GET"',
      'p, " bot ", /y, GET',
    ]
    const set = parsePolicySet(policyFiles({ lines }))
    const model = newModelFromString(formatModel(set.model))

    const enforcer = await newEnforcer(model, new StringAdapter(lines.join('\n')))

    expect(set.rules.map(({ roleKey, path, method }) => [roleKey, path, method])).toEqual(
      await enforcer.getPolicy(),
    )
  })
})

describe('casbin as an engine', () => {
  const count = 40
  const names = Object.keys(casbinModels) as (keyof typeof casbinModels)[]

  test.each(names)('answers as casbin does that has read the files: %s', async (name) => {
    const seed = chooseSeed()
    const random = createRandom(seed)
    const modelText = casbinModels[name]
    const empty = parsePolicySet(policyFiles({ modelText, lines: ['# postern: empty'] }))
    const differences: string[] = []
    let allowed = 0
    for (let policy = 0; policy < count; policy++) {
      const lines = randomLines(random, empty.model.casbin as CasbinModel)
      const set = parsePolicySet(policyFiles({ modelText, lines }))
      const compiled = compile(set)
      const enforcer = await enforcerOf(set)
      for (let asked = 0; asked < questionsPerPolicy; asked++) {
        const near = randomQuestion(random, set)
        const question = random.chance(3) ? { ...near, roleKey: 'root' } : near
        const { roleKey, path, method } = question
        const ours = decide(question, compiled)
        const [casbins, row] = enforcer.enforceExSync(roleKey, path, method)
        if (ours.allowed) allowed++
        if (ours.allowed !== casbins || (ours.rule?.fields ?? []).join() !== row.join()) {
          differences.push(JSON.stringify({ question, ours, row, lines }))
        }
      }
    }

    expect({ seed, differences: differences.slice(0, 3) }).toEqual({ seed, differences: [] })
    expect(allowed).toBeGreaterThan(0)
  })
})
