import { isRecord } from '../kernel/json.ts'
import { quote } from './quote.ts'
import { childOf, field, type Reports, type Spot, spotProblem } from './spot.ts'

/** The base path of Swagger 2.0, in the form of `serverPaths`. */
export function basePathOf(root: Spot, { report }: Reports): readonly string[] {
  const spot = childOf(root, 'basePath')
  if (spot === undefined) return ['']
  const { value } = spot
  if (typeof value === 'string' && value.startsWith('/')) return [withoutEnd(value)]
  report(spotProblem(spot, 'basePath must start with "/"'))
  return ['']
}

/**
 * The distinct paths of the `servers` of a document, path item or operation, without a slash at the
 * end. `undefined` when it has no servers of its own. A server whose path cannot be known is a
 * problem unless another one has a path.
 */
export function serverPaths(owner: Spot, { report, note }: Reports): readonly string[] | undefined {
  const servers = childOf(owner, 'servers')
  if (servers === undefined || servers.value === null) return undefined
  if (!Array.isArray(servers.value)) {
    report(spotProblem(servers, 'servers must be a list'))
    return []
  }
  if (servers.value.length === 0) return undefined
  const all = servers.value.map((server: unknown) => pathOfServer(server))
  const paths = all.flatMap(({ path }) => path ?? [])
  for (const [at, { problem }] of all.entries()) {
    if (problem === undefined) continue
    const spot = childOf(servers, String(at)) ?? servers
    if (paths.length === 0) report(spotProblem(spot, problem))
    else note(spotProblem(spot, `ignored: ${problem}`))
  }
  return [...new Set(paths)]
}

type PathOrProblem =
  | { readonly path: string; readonly problem?: undefined }
  | { readonly path?: undefined; readonly problem: string }

function pathOfServer(server: unknown): PathOrProblem {
  const url = field(server, 'url')
  if (typeof url !== 'string') return { problem: 'a server needs a url' }
  const variables = field(server, 'variables')
  const filled = url.replace(/\{([^{}]*)\}/g, (whole, name: string) => {
    const value = isRecord(variables) ? field(field(variables, name), 'default') : undefined
    return typeof value === 'string' || typeof value === 'number' ? String(value) : whole
  })
  const [, address, rest = ''] =
    /^((?:[a-z][a-z0-9+.{}-]*:|\{[^{}]*\}:)?\/\/[^/?#]*)?([^?#]*)/i.exec(filled) ?? []
  if (rest.includes('{'))
    return { problem: `server ${quote(url)}: a variable in its path has no default` }
  if (rest !== '' && !rest.startsWith('/')) {
    const message = `server ${quote(url)} is relative to the address of the document: give the path with --base`
    return { problem: message }
  }
  return { path: address === undefined && rest === '' ? '' : withoutEnd(rest) }
}

function withoutEnd(path: string): string {
  return path.replace(/\/+$/, '')
}
