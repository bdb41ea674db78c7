import { isAbsolute, posix, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Where the command runs. */
export interface Workplace {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/**
 * A file relative to the root of the repository, as CI systems expect it, or `undefined` when it lies
 * outside. The root is the checkout of the CI job; elsewhere the working directory. The file of a
 * commit, `git:REF:PATH`, has such a path.
 */
export function inRepository(file: string, { cwd, env }: Workplace): string | undefined {
  const [, committed] = /^git:[^:]*:(.+)$/s.exec(file) ?? []
  if (committed !== undefined) return posix.normalize(committed)
  const checkouts = [env['GITHUB_WORKSPACE'], env['CI_PROJECT_DIR']]
  const root = checkouts.find((each) => each && isAbsolute(each) && isInside(each, cwd)) ?? cwd
  const path = resolve(cwd, file)
  return isInside(root, path) ? relative(root, path) : undefined
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, resolve(path))
  return way !== '..' && !way.startsWith('../') && !isAbsolute(way)
}

/** The path as a URI reference: RFC 3986 allows neither spaces nor `#`, `%`, `?` or `:` here. */
export function uriOf(path: string): string {
  return path.toWellFormed().split('/').map(encodeURIComponent).join('/')
}

/** An absolute URI, for files outside the repository. */
export function absoluteUriOf(file: string, { cwd }: Workplace): string {
  return pathToFileURL(resolve(cwd, file)).href
}
