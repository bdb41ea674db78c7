import { isRemoved, needsNoLogin } from '../kernel/endpoints.ts'
import { decodedTwice } from '../policy/rule/canonical-path.ts'

/**
 * The paths that a server may read in a canonical path: unchanged, with encoded slashes decoded,
 * without path parameters (`;`), without what follows an encoded `?` or `#`, decoded twice, and all of
 * these in any order.
 */
export function interpretations(path: string): readonly string[] {
  if (!/%2[F35]|;|%3F/.test(path)) return [path]
  const found = new Set([path])
  // A set also iterates over what is added meanwhile. Every reading but the first is shorter.
  for (const read of found) for (const again of readers) found.add(again(read))
  return [...found]
}

const readers: readonly ((path: string) => string)[] = [
  (path) => path.replaceAll('%2F', '/'),
  (path) => path.replace(/;[^/]*/g, ''),
  (path) => path.replace(/%(?:23|3F).*/, ''),
  (path) => decodedTwice(path) ?? path,
]

/** Whether a server could interpret this path as a login, captcha or removed endpoint. */
export function mayReachReservedPath(path: string): boolean {
  return interpretations(path).some((read) => isRemoved(read) || needsNoLogin(read))
}
