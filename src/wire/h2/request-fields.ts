import { isFieldName, isFieldValue } from '../header-fields.ts'
import { rememberNames } from '../remembered-names.ts'
import { unfitForPath, type WireRequest } from '../request-head.ts'

/** RFC 9113 8.2.2, and Host, which is `:authority` here. */
const withheld = new Set([
  ...['connection', 'proxy-connection', 'keep-alive', 'transfer-encoding', 'upgrade'],
  ...['http2-settings', 'host'],
])

/** In lower case; empty for a header that HTTP/2 does not have; `undefined` for an invalid name. */
const sentName: (name: string) => string | undefined = rememberNames((name) => {
  if (!isFieldName(name)) return undefined
  const lower = name.toLowerCase()
  return withheld.has(lower) ? '' : lower
})

/**
 * The header section of a request: name, value, name, value … Returns `undefined` if a server could
 * read it as anything but this one request, so callers need not check their values.
 */
export function requestFields(
  request: WireRequest,
  { scheme, host: ownHost }: { readonly scheme: string; readonly host: string },
): string[] | undefined {
  const { method, path, host = ownHost, headers } = request
  if (unfitForPath.test(path) || unfitForPath.test(host)) return undefined
  const fields = [':method', method, ':scheme', scheme, ':authority', host, ':path', path]
  for (let at = 0; at < headers.length; at += 2) {
    const name = sentName(headers[at] as string)
    const value = headers[at + 1] as string
    if (name === undefined || !isFieldValue(value)) return undefined
    if (name !== '') fields.push(name, trimmed(value))
  }
  return fields
}

/** RFC 9113 8.2.1: a value with white space at its ends is malformed. */
function trimmed(value: string): string {
  return /^[\t ]|[\t ]$/.test(value) ? value.replace(/^[\t ]+|[\t ]+$/g, '') : value
}
