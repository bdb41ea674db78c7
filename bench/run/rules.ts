import { nowSeconds, tokenOf } from '../../test/support/tokens.ts'

/** One line of the permission table that every checking peer gets, in a form of its own. */
export interface Rule {
  readonly role: string
  readonly method: string
  readonly path: string
}

const rulesPerRole = 50
const actions = [
  { tail: '', method: 'GET' },
  { tail: '', method: 'POST' },
  { tail: '/:id', method: 'GET' },
  { tail: '/:id', method: 'PUT' },
  { tail: '/:id', method: 'DELETE' },
] as const

/** Whoever calls. Every table has this role. */
export const callerRole = 'role-0'

/** What the caller may do: two rules of the middle of every table, so that no order of it helps. */
export const permitted = { collection: '/api/v1/area-5/things', one: '/api/v1/area-5/things/7' }

/** A path that no rule allows: a peer that reads the table in order reads all of it. */
export const forbidden = '/api/v1/secrets/7'

/** Roles times resources times actions, as an admin product has them; at least ten rules. */
export function createRules(count: number): readonly Rule[] {
  const roles = Math.max(1, Math.floor(count / rulesPerRole))
  const areas = Math.max(2, Math.floor(Math.min(count, rulesPerRole) / actions.length))
  const rules = Array.from({ length: areas }, (_, area) =>
    actions.flatMap(({ tail, method }) =>
      Array.from({ length: roles }, (_, role) => ({
        role: `role-${role}`,
        method,
        path: `/api/v1/area-${areas === 2 ? area + 4 : area}/things${tail}`,
      })),
    ),
  ).flat()
  if (rules.length !== count) throw new Error(`a table of ${count} rules has ${rules.length}`)
  return rules
}

const longestRunSeconds = 12 * 3600

/** Users of the caller's role, each with a token of their own, good for longer than a run takes. */
export function createTokens(count: number, firstUser = 1000): readonly string[] {
  const exp = nowSeconds() + longestRunSeconds
  return Array.from({ length: count }, (_, at) =>
    tokenOf(callerRole, { identity: firstUser + at, exp }),
  )
}

/** The user ID in the first of those tokens, as it must arrive at the upstream. */
export const firstUserId = '1000'
