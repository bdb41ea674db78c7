/**
 * The shape of a canonical path: `:id` in place of each segment that looks like an identifier, so that
 * calls about different objects count as one. `undefined` for a path too long or too deep to be that of
 * an endpoint. A pattern matches the shape if it matches the path, unless it names the identifier.
 */
export function pathShape(path: string): string | undefined {
  if (path.length > longestPath) return undefined
  const segments = path.split('/')
  if (segments.length > mostSegments) return undefined
  return segments.map((segment) => (isIdentifier(segment) ? ':id' : segment)).join('/')
}

const longestPath = 256
const mostSegments = 16

function isIdentifier(segment: string): boolean {
  if (segment === '') return false
  // Numbers, mail addresses, UUIDs and other hexadecimal texts.
  if (/^\d+$|@|%40|^[0-9a-f]{8}-[0-9a-f-]{27}$|^[0-9a-f]{16,}$/i.test(segment)) return true
  // ULIDs, hashes in base64 and the like. Names of endpoints that long have no digits.
  return segment.length >= 20 && /\d/.test(segment)
}
