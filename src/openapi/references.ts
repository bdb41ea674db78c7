import { dirname, join, relative, resolve } from 'node:path'
import { Invalid, type Problem } from '../kernel/errors.ts'
import { isRecord } from '../kernel/json.ts'
import { maxBytes, maxFiles, maxReferences, megabytes } from './limits.ts'
import { parseText } from './parse.ts'
import { quote } from './quote.ts'
import { isInside, readText, realOf } from './read-file.ts'
import type { Source } from './source.ts'
import { childOf, field, type Spot, spotProblem } from './spot.ts'

/** The files of one document, read when a reference leads to them. */
export type Files = Awaited<ReturnType<typeof openDocument>>

/**
 * Opens a document. References lead to files in its folder only: a description from elsewhere must
 * not make a build server read its own files or the network. Throws `Invalid` if it cannot be read.
 */
export async function openDocument(
  { path, name }: { readonly path: string; readonly name: string },
  report: (problem: Problem) => void,
) {
  const first = await readText(path, name)
  const folder = dirname(first.path)
  const sources = new Map<string, Source | undefined>()
  let bytes = 0

  function add(real: string, shown: string, text: string): Source {
    bytes += text.length
    const source = { name: shown, folder: dirname(real), ...parseText(shown, text) }
    sources.set(real, source)
    return source
  }

  async function load(wanted: string, spot: Spot): Promise<Source | undefined> {
    const outside = 'leads outside the folder of the document: copy the file into it'
    // Before the file system is asked, so that the answer does not tell which files exist.
    if (!isInside(wanted, folder)) return complain(spot, outside)
    const real = await realOf(wanted)
    if (real === undefined || !isInside(real, folder)) return complain(spot, outside)
    if (sources.has(real)) return sources.get(real)
    if (sources.size >= maxFiles)
      return complain(spot, `is one file too many: at most ${maxFiles} are read`)
    if (bytes > maxBytes)
      return complain(spot, `is too much: at most ${megabytes(maxBytes)} are read together`)
    const shown = join(dirname(name), relative(folder, real))
    try {
      const read = await readText(real, shown)
      // A link may have come in between.
      return read.path === real ? add(real, shown, read.text) : complain(spot, outside)
    } catch (error) {
      if (!(error instanceof Invalid)) throw error
      sources.set(real, undefined)
      const [problem] = error.problems
      if (problem?.line === undefined) return complain(spot, problem?.message ?? '')
      report(problem)
      return undefined
    }
  }

  function complain(spot: Spot, message: string): undefined {
    const ref = field(spot.value, '$ref')
    report(spotProblem(childOf(spot, '$ref') ?? spot, `$ref ${quote(String(ref))} ${message}`))
    return undefined
  }

  async function target(spot: Spot, ref: unknown): Promise<Spot | undefined> {
    if (typeof ref !== 'string') return complain(spot, 'must be text')
    const { file, pointer, problem } = parseReference(ref)
    if (problem !== undefined) return complain(spot, problem)
    const source = file === '' ? spot.source : await load(resolve(spot.source.folder, file), spot)
    if (source === undefined) return undefined
    let found: Spot | undefined = { source, pointer: [], value: source.value }
    for (const key of pointer) found = found && childOf(found, key)
    return found ?? complain(spot, 'leads to nothing')
  }

  const source = add(first.path, name, first.text)
  return {
    root: { source, pointer: [], value: source.value },
    /** Follows `$ref` as often as necessary. Returns `undefined` after reporting a problem. */
    async follow(start: Spot): Promise<Spot | undefined> {
      let spot: Spot | undefined = start
      const seen = new Set<unknown>()
      while (spot !== undefined && isRecord(spot.value) && Object.hasOwn(spot.value, '$ref')) {
        if (seen.has(spot.value)) return complain(start, 'is circular')
        if (seen.size === maxReferences) return complain(start, 'leads through too many others')
        seen.add(spot.value)
        spot = await target(spot, field(spot.value, '$ref'))
      }
      return spot
    },
  }
}

interface Reference {
  /** Decoded, relative; empty: the same file. */
  readonly file: string
  readonly pointer: readonly string[]
  readonly problem?: string
}

function parseReference(ref: string): Reference {
  const refused = (problem: string) => ({ file: '', pointer: [], problem })
  const [location = '', fragment = '', more] = ref.split('#')
  if (/^[a-z][a-z0-9+.-]*:/i.test(location) || location.startsWith('//')) {
    return refused('is not a file in the folder of the document: copy the file into it')
  }
  if (location.startsWith('/')) return refused('must be a relative path')
  const file = decoded(location)
  const pointer = decoded(fragment)
  if (file === undefined || pointer === undefined || more !== undefined || file.includes('\0')) {
    return refused('is not a valid reference')
  }
  if (pointer !== '' && !pointer.startsWith('/')) {
    return refused('must end in a JSON pointer, such as "#/components/pathItems/orders"')
  }
  const keys = pointer.split('/').slice(1)
  return { file, pointer: keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~')) }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
