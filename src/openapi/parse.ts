import { Invalid } from '../kernel/errors.ts'
import { scanKeys } from './json-keys.ts'
import { maxYamlBytes, megabytes } from './limits.ts'
import { createLines } from './lines.ts'
import type { Parsed } from './source.ts'
import { parseYaml } from './yaml.ts'

/**
 * Parses JSON or YAML, of which JSON is a part. JSON.parse goes first: it takes a twentieth of the
 * time. Throws `Invalid`.
 */
export function parseText(name: string, text: string): Parsed {
  const looksLikeJson = /^\s*\{/.test(text)
  const parsed = looksLikeJson ? parseJson(name, text) : undefined
  if (parsed !== undefined) return parsed
  if (text.length <= maxYamlBytes) return parseYaml(name, text)
  const message = looksLikeJson
    ? 'is not valid JSON'
    : `has ${megabytes(text.length)} of YAML; at most ${megabytes(maxYamlBytes)} are read: convert it to JSON`
  throw new Invalid([{ file: name, message }])
}

/**
 * Parses JSON, with the places of its upper keys. Returns `undefined` for a text that is not JSON: V8
 * does not always say where. Throws `Invalid` for doubled keys, of which JSON.parse keeps the last.
 */
function parseJson(name: string, text: string): Parsed | undefined {
  const lines = createLines(text)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  const { offsets, problem } = scanKeys(text)
  if (problem !== undefined) {
    throw new Invalid([{ file: name, ...lines.placeOf(problem.offset), message: problem.message }])
  }
  return {
    value,
    placeOf(pointer) {
      for (let length = pointer.length; length > 0; length--) {
        const offset = offsets.get(pointerText(pointer.slice(0, length)))
        if (offset !== undefined) return lines.placeOf(offset)
      }
      return { line: 1, column: 1 }
    },
  }
}

/** A JSON pointer (RFC 6901), so that a key may contain slashes. */
function pointerText(keys: readonly string[]): string {
  return keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}
