import type { Question } from '../../src/policy/decide.ts'
import type { PolicyFile } from '../../src/policy/set/policy-set.ts'

/** A policy of a given size and questions about it, the same in every run. */
export interface Sample {
  readonly files: readonly PolicyFile[]
  /** A rule allows these. */
  readonly hits: readonly Question[]
  /** No rule allows most of these: another method, a longer path, a role that has other rules. */
  readonly misses: readonly Question[]
}

interface Row {
  readonly role: string
  readonly path: string
  readonly method: string
}

/** How many different questions are asked in turn, so that small caches do not hold the answers. */
const questionCount = 16_384
const rulesPerRole = 100
const rulesPerResource = 8
const forms = [
  { tail: '', methods: ['GET', 'POST'] },
  { tail: '/:id', methods: ['GET', 'PUT', 'DELETE'] },
  { tail: '/:id/approve', methods: ['POST'] },
  { tail: '/export/*', methods: ['*', 'GET'] },
] as const

const model = `[request_definition]
r = sub, obj, act
[policy_definition]
p = sub, obj, act
[policy_effect]
e = some(where (p.eft == allow))
[matchers]
m = r.sub == p.sub && (keyMatch2(r.obj, p.obj) || keyMatch(r.obj, p.obj)) && (r.act == p.act || p.act == "*")
`

const exclusions = [
  '/api/v1/logout',
  '/api/v1/user/profile',
  '/api/v1/menus/own',
  '/api/v1/dict/:key',
]
  .map((path) => `- { method: GET, path: ${path}, reason: everybody needs it }`)
  .join('\n')

/**
 * Rules of many roles for resources that they share, or each for a resource of its own. The lines
 * stand in no order, which is the worst for the memory that decisions visit.
 */
export function createSample(count: number, { ownPaths = false } = {}): Sample {
  const rows = createRows(count, ownPaths)
  const lines = rows.map(({ role, path, method }) => `p, ${role}, ${path}, ${method}`)
  return {
    files: [
      { name: 'model.conf', text: model },
      { name: 'policy.csv', text: flat(lines.join('\n')) },
      { name: 'exclusions.yaml', text: exclusions },
    ],
    hits: createQuestions(rows, 'hit'),
    misses: createQuestions(rows, 'miss'),
  }
}

function createRows(count: number, ownPaths: boolean): readonly Row[] {
  const { below, pick } = createRandom(count)
  const roles = Math.max(5, Math.ceil(count / rulesPerRole))
  const resources = Math.max(5, Math.ceil(count / rulesPerResource))
  const areas = Math.ceil(Math.sqrt(resources))
  const rows = new Map<string, Row>()
  while (rows.size < count) {
    const resource = ownPaths ? rows.size : below(resources)
    const { tail, methods } = pick(forms)
    const role = `team-${below(roles)}`
    const path = `/api/v1/area-${resource % areas}/resource-${resource}${tail}`
    const method = pick(methods)
    rows.set(`${role} ${path} ${method}`, { role, path, method })
  }
  return [...rows.values()]
}

function createQuestions(rows: readonly Row[], kind: 'hit' | 'miss'): readonly Question[] {
  const { below, pick } = createRandom(questionCount)
  return Array.from({ length: questionCount }, (_, at): Question => {
    const { role, path, method } = pick(rows)
    const asked = path.replace(':id', String(below(100_000))).replace('*', `sheet-${below(100)}`)
    const hit = {
      roleKey: flat(role),
      path: flat(asked),
      method: method === '*' ? 'GET' : method,
    }
    if (kind === 'hit') return hit
    if (at % 3 === 0) return { ...hit, method: pick(['HEAD', 'PATCH', 'OPTIONS']) }
    if (at % 3 === 1) return { ...hit, path: flat(`${asked}/history`) }
    return { ...hit, roleKey: flat(pick(rows).role), method: pick(['GET', 'POST', 'PUT']) }
  })
}

/** As a text from a socket is: its own piece of memory, not one that points to others. */
function flat(text: string): string {
  return Buffer.from(text).toString()
}

/** Small, fast and repeatable (mulberry32); `below(n)` is 0 … n - 1. */
function createRandom(seed: number) {
  let state = seed
  const below = (limit: number): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit
  }
  return { below, pick: <T>(from: readonly T[]): T => from[below(from.length)] as T }
}
