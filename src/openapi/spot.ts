import type { Problem } from '../kernel/errors.ts'
import { isRecord } from '../kernel/json.ts'
import type { Source } from './source.ts'

/** A value in a file, with the way to it. */
export interface Spot {
  readonly source: Source
  readonly pointer: readonly string[]
  readonly value: unknown
}

/** Where problems go, and notes about parts that are ignored. */
export interface Reports {
  readonly report: (problem: Problem) => void
  readonly note: (problem: Problem) => void
}

/** An own field of a mapping: `constructor` is one only if the file has it. */
export function field(value: unknown, key: string): unknown {
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

/** The field of a mapping, or the item of a list. */
export function childOf({ source, pointer, value }: Spot, key: string): Spot | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  if (Array.isArray(value) && !/^\d+$/.test(key)) return undefined
  const child = (value as Readonly<Record<string, unknown>>)[key]
  return { source, pointer: [...pointer, key], value: child }
}

export function spotProblem({ source, pointer }: Spot, message: string): Problem {
  return { file: source.name, ...source.placeOf(pointer), message }
}
