import { foldName } from '../../reserved-headers.ts'

/**
 * Finds names in the headers of a client that a service may read as one of `names`, such as X_User_Id
 * for X-User-Id. The names themselves are not included.
 */
export function createForgedNames(
  names: readonly string[],
): (rawHeaders: readonly string[]) => readonly string[] {
  const known = new Set(names.map((name) => name.toLowerCase()))
  const folded = new Set([...known].map(foldName))

  return (rawHeaders) => {
    const found = new Set<string>()
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const lower = (rawHeaders[at] as string).toLowerCase()
      if (!known.has(lower) && folded.has(foldName(lower))) found.add(lower)
    }
    return [...found]
  }
}
