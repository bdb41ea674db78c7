import { canonicalHost } from '../../admission/canonical-host.ts'
import { InvalidInput } from '../invalid-input.ts'

/** Splits `https://host/path` into host and path; a path alone keeps the host of `--host`. */
export function queryTarget(given: string, named: string | undefined) {
  const [, authority, path] = /^https?:\/\/([^/?#]+)(.*)$/i.exec(given) ?? []
  const fromOption = named === undefined ? undefined : requireHost('host', named)
  if (authority === undefined) {
    return { path: given, ...(fromOption !== undefined && { host: fromOption }) }
  }
  const host = requireHost('path', authority)
  if (fromOption !== undefined && fromOption !== host) {
    throw new InvalidInput(
      undefined,
      `--host ${fromOption} and the host of the URL (${host}) differ: give one`,
    )
  }
  return { path: path === undefined || path === '' ? '/' : path, host }
}

/** The canonical host that a field names. Throws `InvalidInput` when it has no canonical form. */
export function requireHost(field: string, text: string): string {
  const host = canonicalHost(text)
  if (host !== undefined) return host
  throw new InvalidInput(
    field,
    `${JSON.stringify(text)} is not a host: write a name such as api.example.com`,
  )
}
