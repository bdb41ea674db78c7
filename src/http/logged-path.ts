/** Where a query begins for a server that decodes the path, however often. */
const queryStart = /[?#]|%(?:25)*(?:3f|23)/i
/** A JWT, with its dots escaped or not. */
const jwt = /eyJ[\w-]{5,}(?:(?:\.|%(?:25)*2e)[\w-]*)+/gi
const maxLength = 512

/** A path as a client sent it, without what may be a credential, for the log. */
export function loggedPath(rawPath: string): string {
  const start = rawPath.search(queryStart)
  const path = (start === -1 ? rawPath : rawPath.slice(0, start)).replace(jwt, '[redacted]')
  return path.length > maxLength ? `${path.slice(0, maxLength)}…` : path
}
