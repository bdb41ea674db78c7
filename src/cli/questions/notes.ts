import type { Io } from '../io.ts'
import { noteLines } from '../view.ts'

export function printNotes(notes: readonly string[], io: Io): void {
  io.err(noteLines(notes))
}
