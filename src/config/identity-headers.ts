import type { Draft } from './schema/schema.ts'

type Headers = NonNullable<Draft['headers']>

/** Instead of a claim: the name of the caller. */
export const userName = ''

/** Headers by which applications made for other proxies know the caller, and what each carries. */
const presets = {
  'oauth2-proxy': {
    'X-Forwarded-User': userName,
    'X-Forwarded-Preferred-Username': userName,
    'X-Forwarded-Email': 'email',
    'X-Forwarded-Groups': 'groups',
  },
  authelia: {
    'Remote-User': userName,
    'Remote-Name': 'name',
    'Remote-Email': 'email',
    'Remote-Groups': 'groups',
  },
} as const

/** The headers with claims, and with the name of the caller for other applications. */
export function claimHeaders({ claims = {}, preset }: Headers) {
  const own = Object.entries(claims).flatMap(([claim, name]) =>
    name === undefined ? [] : [{ setting: `headers.claims.${claim}`, name, claim }],
  )
  const others = preset === undefined ? [] : Object.entries(presets[preset])
  return [...own, ...others.map(([name, claim]) => ({ setting: 'headers.preset', name, claim }))]
}

/** The claims that tokens carry for services. */
export function carriedClaims({ headers = {}, identity }: Pick<Draft, 'headers' | 'identity'>) {
  const sent = claimHeaders(headers).flatMap(({ claim }) => (claim === userName ? [] : [claim]))
  const asserted = identity?.assertion?.claims?.flatMap((claim) => claim ?? []) ?? []
  return [...new Set([...sent, ...asserted])]
}

/** Every header that only Postern may set, with the setting that names it. */
export function ownHeaders({ headers = {}, identity }: Pick<Draft, 'headers' | 'identity'>) {
  const { claims: _, preset: __, claimBytes: ___, ...fixed } = headers
  const all: readonly { readonly setting: string; readonly name: string | undefined }[] = [
    ...Object.entries(fixed).map(([key, name]) => ({ setting: `headers.${key}`, name })),
    ...claimHeaders(headers),
    { setting: 'identity.assertion.header', name: identity?.assertion?.header },
  ]
  return all.flatMap(({ setting, name }) => (name === undefined ? [] : [{ setting, name }]))
}
