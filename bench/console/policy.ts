import type { PolicyFile } from '../../src/policy/set/policy-set.ts'
import { policyFiles } from '../../test/support/policy-files.ts'

export const roles = Array.from({ length: 200 }, (_, at) => `role-${String(at).padStart(3, '0')}`)
const operations = 2000
const rulesForEach = 5

/** 200 roles, 2,000 operations, 10,000 rules; a revision has one line of its own. */
export function filesOf(revision: number): readonly PolicyFile[] {
  const lines = Array.from({ length: operations }, (_, at) =>
    Array.from({ length: rulesForEach }, (_, nth) => {
      const role = roles[(at * 7 + nth * 41) % roles.length]
      return `${role}, /api/v1/things-${at}/:id, GET`
    }),
  ).flat()
  return policyFiles([...lines.slice(0, -1), `role-000, /api/v1/revision-${revision}, GET`])
}

/** What the load asks for. */
export const permitted = { role: 'role-000', path: '/api/v1/things-0/7' }
