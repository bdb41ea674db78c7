import { Invalid, type Problem } from '../kernel/errors.ts'
import { isRecord } from '../kernel/json.ts'
import { maxOperations } from './limits.ts'
import { type PathItem, readPathItems } from './path-items.ts'
import { quote } from './quote.ts'
import { openDocument } from './references.ts'
import { childOf, field, type Reports, type Spot, spotProblem } from './spot.ts'

/** One method on one path, as a document describes it. */
export interface Operation {
  readonly method: string
  /** With the base path; parameters as `{name}`. */
  readonly path: string
  readonly operationId?: string
  /** The document requires credentials for it. */
  readonly declaresSecurity: boolean
  readonly origin: { readonly file: string; readonly line: number; readonly column: number }
}

/** What the commands need of an OpenAPI document. */
export type OpenApiDocument = Awaited<ReturnType<typeof readOpenApi>>

/**
 * Reads an OpenAPI document (2.0, 3.0, 3.1, 3.2; JSON or YAML) and the files in its folder that its
 * paths refer to. Throws `Invalid` with every problem found; `notes` say what was ignored. `base`
 * replaces the base paths of the document.
 */
export async function readOpenApi(
  file: { readonly path: string; readonly name: string },
  { base }: { readonly base?: string | undefined } = {},
) {
  const problems: Problem[] = []
  const notes: Problem[] = []
  const reports: Reports = {
    report: (problem) => problems.push(problem),
    note: (problem) => notes.push(problem),
  }
  const files = await openDocument(file, reports.report)
  const version = versionOf(files.root)
  const root = {
    security: declaresSecurity(files.root, reports.report),
    bases: basesOf(files.root, { base, version, reports }),
  }
  const operations = new Map<string, Operation>()
  const paths = childOf(files.root, 'paths')
  if (paths === undefined && !/^3\.[1-9]/.test(version)) {
    reports.report(spotProblem(files.root, 'paths is missing'))
  }
  const items = paths === undefined ? [] : readPathItems(paths, files, reports)
  for await (const item of items) {
    for (const operation of operationsOf(item, root, { base, reports })) {
      const key = `${operation.method} ${operation.path}`
      if (!operations.has(key)) operations.set(key, operation)
    }
    if (operations.size > maxOperations) {
      reports.report(spotProblem(files.root, `has more than ${maxOperations} operations`))
      break
    }
  }
  if (problems.length > 0) throw new Invalid(firstOf(problems, file.name))
  return { name: file.name, version, operations: [...operations.values()], notes }
}

/** More than a person reads. */
const mostProblems = 100

function firstOf(problems: readonly Problem[], file: string): readonly Problem[] {
  const more = problems.length - mostProblems
  if (more <= 0) return problems
  return [...problems.slice(0, mostProblems), { file, message: `and ${more} more problems` }]
}

function versionOf(root: Spot): string {
  const version = isRecord(root.value)
    ? (field(root.value, 'openapi') ?? field(root.value, 'swagger'))
    : undefined
  const text = typeof version === 'number' ? version.toFixed(1) : version
  if (typeof text === 'string' && /^(?:2\.0|3\.[0-2](?:\.|$))/.test(text)) return text
  const at = childOf(root, 'openapi') ?? childOf(root, 'swagger') ?? root
  const message =
    version === undefined
      ? 'not an OpenAPI document: it has neither "openapi" nor "swagger" at the top'
      : `version ${JSON.stringify(version)?.slice(0, 40)} is not supported: use OpenAPI 2.0, 3.0 or 3.1`
  throw new Invalid([spotProblem(at, message)])
}

interface BaseOptions {
  readonly base: string | undefined
  readonly reports: Reports
}

function basesOf(
  root: Spot,
  { base, version, reports }: BaseOptions & { readonly version: string },
): readonly string[] {
  if (base !== undefined) return [base]
  if (version === '2.0') return basePathOf(root, reports)
  return serverPaths(root, reports) ?? ['']
}

function* operationsOf(
  { path, layers, operations }: PathItem,
  root: { readonly security: boolean | undefined; readonly bases: readonly string[] },
  { base, reports }: BaseOptions,
): Generator<Operation> {
  const own = (owner: Spot) => (base === undefined ? serverPaths(owner, reports) : undefined)
  const [itemBases = root.bases] = layers.map(own).filter((bases) => bases !== undefined)
  for (const { method, at, operation } of operations) {
    const security = declaresSecurity(operation, reports.report) ?? root.security
    const id = field(operation.value, 'operationId')
    for (const prefix of own(operation) ?? itemBases) {
      yield {
        method,
        // Some documents tell operations apart by query or fragment, which a gateway does not see.
        path: `${prefix}${path.split(/[?#]/, 1)[0] || '/'}`,
        ...(typeof id === 'string' && { operationId: id }),
        declaresSecurity: security === true,
        origin: { file: at.source.name, ...at.source.placeOf(at.pointer) },
      }
    }
  }
}

/**
 * Whether a document or operation declares that callers need credentials; `undefined` when it says
 * nothing. An empty list requires nothing. Nor does a list with an empty requirement, which makes
 * the others optional.
 */
function declaresSecurity(owner: Spot, report: Reports['report']): boolean | undefined {
  const security = childOf(owner, 'security')
  if (security === undefined || security.value === null) return undefined
  if (!Array.isArray(security.value) || !security.value.every(isRecord)) {
    report(spotProblem(security, 'security must be a list of mappings'))
    return undefined
  }
  const requirements: readonly object[] = security.value
  return requirements.length > 0 && requirements.every((each) => Object.keys(each).length > 0)
}

/** The base path of Swagger 2.0, in the form of `serverPaths`. */
function basePathOf(root: Spot, { report }: Reports): readonly string[] {
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
function serverPaths(owner: Spot, { report, note }: Reports): readonly string[] | undefined {
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
