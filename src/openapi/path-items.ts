import { isRecord } from '../kernel/json.ts'
import { didYouMean } from '../kernel/suggest.ts'
import { maxPath } from './limits.ts'
import { quote } from './quote.ts'
import type { Files } from './references.ts'
import { childOf, type Reports, type Spot, spotProblem } from './spot.ts'

/** One operation of a path item, its references followed. */
interface RawOperation {
  readonly method: string
  /** What the path item says in the file. */
  readonly at: Spot
  readonly operation: Spot
}

/** What a path item has, its references followed. */
export type PathItem = Awaited<ReturnType<typeof readPathItem>>

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query']
const otherFields = [
  '$ref',
  'summary',
  'description',
  'servers',
  'parameters',
  'additionalOperations',
]

/** Yields the path items of a document. */
export async function* readPathItems(paths: Spot, files: Files, reports: Reports) {
  const mapping = await files.follow(paths)
  if (mapping === undefined) return
  if (!isRecord(mapping.value)) {
    reports.report(spotProblem(mapping, 'paths must be a mapping'))
    return
  }
  for (const path of Object.keys(mapping.value)) {
    const item = childOf(mapping, path)
    if (path.startsWith('x-') || path === '$ref' || item === undefined) continue
    const problem = pathProblem(path)
    if (problem === undefined) yield await readPathItem(path, item, { files, ...reports })
    else reports.report(spotProblem(item, problem))
  }
}

function pathProblem(path: string): string | undefined {
  if (!path.startsWith('/')) return `path ${quote(path)} must start with "/"`
  if (path.length > maxPath)
    return `path has ${path.length} characters; at most ${maxPath} are allowed`
  const open = path.replace(/\{[^{}/]+\}/g, '')
  if (/[{}]/.test(open))
    return `path ${quote(path)} has a "{" or "}" that is not part of a parameter such as {id}`
  return undefined
}

type Reading = Reports & { readonly files: Files }

async function readPathItem(path: string, item: Spot, reading: Reading) {
  const layers = await layersOf(item, reading)
  const operations: RawOperation[] = []
  const seen = new Set<string>()
  for (const layer of layers) {
    for (const name of Object.keys(layer.value as object)) {
      const at = childOf(layer, name)
      if (at === undefined || seen.has(name)) continue
      seen.add(name)
      if (name === 'additionalOperations') operations.push(...(await additional(at, reading)))
      else if (methods.includes(name)) operations.push(...(await operationAt(name, at, reading)))
      else if (!otherFields.includes(name) && !name.startsWith('x-')) {
        const hint = didYouMean(name, methods)
        reading.note(spotProblem(at, `ignored: ${quote(name)} is not a method of OpenAPI${hint}`))
      }
    }
  }
  return { path, layers, operations }
}

/** OpenAPI 3.1 allows fields beside `$ref`. */
async function layersOf(item: Spot, { files, report }: Reading): Promise<readonly Spot[]> {
  const target = await files.follow(item)
  const layers = target === undefined || target.value === item.value ? [item] : [item, target]
  if (layers.every(({ value }) => isRecord(value))) return layers
  // A path without operations may be written as `/orders:`.
  if (layers.every(({ value }) => value === null)) return []
  report(spotProblem(item, 'a path item must be a mapping'))
  return []
}

/** OpenAPI 3.2: methods by their own name, such as COPY. */
async function additional(at: Spot, reading: Reading): Promise<RawOperation[]> {
  if (!isRecord(at.value)) {
    reading.report(spotProblem(at, 'additionalOperations must be a mapping'))
    return []
  }
  const operations: RawOperation[] = []
  for (const name of Object.keys(at.value)) {
    const each = childOf(at, name)
    if (each !== undefined) operations.push(...(await operationAt(name, each, reading)))
  }
  return operations
}

async function operationAt(
  method: string,
  at: Spot,
  { files, report }: Reading,
): Promise<RawOperation[]> {
  // The specification does not allow $ref here, but large real documents have it.
  const operation = await files.follow(at)
  if (operation === undefined) return []
  if (isRecord(operation.value) || operation.value === null) {
    return [{ method: methods.includes(method) ? method.toUpperCase() : method, at, operation }]
  }
  report(spotProblem(operation, 'an operation must be a mapping'))
  return []
}
