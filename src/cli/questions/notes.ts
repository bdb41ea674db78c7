import { printable } from '../format.ts'
import type { Io } from '../io.ts'
import type { AskedPolicy } from './asked-policy.ts'

/** Why an answer may miss something. */
export function inexact({ policies }: AskedPolicy): string {
  return policies.set.model.casbin === undefined
    ? 'some patterns have too many cases: not all were examined'
    : 'Casbin evaluates this model, and only its matcher knows what a rule means: the answer is about one example call for each rule'
}

export function printNotes(notes: readonly string[], io: Io): void {
  for (const note of notes) io.err(`note: ${printable(note)}\n`)
}
