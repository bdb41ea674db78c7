import { InvalidInput } from './invalid-input.ts'
import type { Field, Fields, InputOf } from './operation.ts'

/** Values of fields by name, in the types that they promise. */
export type Inputs = Readonly<
  Record<string, string | number | boolean | readonly string[] | undefined>
>

/**
 * Adds what the caller did not give. Callers over the network did not come by the parser of command lines:
 * without one of several fields, a change could be about everything.
 */
export function inputOf<Input extends Fields>(fields: Input, given: Inputs): InputOf<Input> {
  const values = Object.entries<Field>(fields).map(([name, field]) => {
    const { value, number, many, unless, description, default: standard } = field
    const other = unless?.find((each) => given[each] !== undefined && given[each] !== false)
    if (unless !== undefined && (other === undefined) === (given[name] === undefined)) {
      const why = other === undefined ? `is missing: ${description}` : `cannot be with ${other}`
      throw new InvalidInput(undefined, `${name} ${why}`)
    }
    const otherwise = number === undefined || standard === undefined ? standard : Number(standard)
    const absent = many ? [] : value === undefined ? false : otherwise
    return [name, given[name] ?? absent] as const
  })
  return Object.fromEntries(values) as InputOf<Input>
}
