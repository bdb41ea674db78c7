import type { Questions } from '#client'
import type { Query } from '../address.ts'

export type CallerKind = 'role' | 'user' | 'anonymous'

export function callerKind({ user, anonymous }: Query): CallerKind {
  if (anonymous !== undefined) return 'anonymous'
  return user === undefined ? 'role' : 'user'
}

/** The question that an address asks; `undefined` while it names no caller or no call. */
export function questionIn(query: Query): Questions['policy/explain']['input'] | undefined {
  const { role, user, method = 'GET', path = '', host, domain, revision } = query
  const kind = callerKind(query)
  const caller = { role: { role }, user: { user }, anonymous: { anonymous: true } }[kind]
  const isNamed = kind === 'anonymous' || Object.values(caller).every((name) => Boolean(name))
  if (!isNamed || path === '') return undefined
  return { ...caller, method, path, host, domain, revision }
}
