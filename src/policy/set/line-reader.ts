import type { Inheritance, Origin, Rule } from '../rule/rule.ts'

/** Reads the fields of a line, the first of which is its type. */
export interface LineReader {
  readonly readRule: (fields: readonly string[], origin: Origin) => Rule | BadLine
  readonly readInheritance: (fields: readonly string[], origin: Origin) => Inheritance | BadLine
  /** The valid forms of a line, for messages. */
  readonly forms: string
}

/** What is wrong with a line, and in which of its fields. */
export interface BadLine {
  readonly problems: readonly { readonly field: number; readonly message: string }[]
}

/** A line with one problem. */
export function badLine(message: string, field = 0): BadLine {
  return { problems: [{ field, message }] }
}

/** From the problem, if any, of each field after the type. */
export function badFields(messages: readonly (string | undefined)[]): BadLine {
  const problems = messages.flatMap((message, index) =>
    message === undefined ? [] : [{ field: index + 1, message }],
  )
  return { problems }
}
