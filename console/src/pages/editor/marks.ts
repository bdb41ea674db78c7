import type { ErrorEntry } from '#client'
import type { DraftFile } from '../../lib/draft.ts'
import { lineMover } from '../../lib/lines.ts'

/** A message at a line of a file. */
export interface Mark {
  readonly line: number
  readonly kind: 'error' | 'warning' | 'note'
  readonly message: string
}

/** A finding, and how bad it is. */
export interface Noted extends Omit<ErrorEntry, 'kind'> {
  /** Of a warning, such as `wide-rule`. */
  readonly code?: string | undefined
  readonly kind: Mark['kind']
}

/** The findings of a file, where its lines are now. Those of lines that changed since are left out. */
export function marksOf(
  { name, text }: DraftFile,
  noted: readonly Noted[],
  checked: readonly DraftFile[],
): readonly Mark[] {
  const own = noted.filter(({ file, line }) => file === name && line !== undefined)
  if (own.length === 0) return []
  const before = checked.find((file) => file.name === name)?.text
  if (before === undefined) return []
  const move = lineMover(before.split('\n'), text.split('\n'))
  return own.flatMap(({ line = 0, kind, message }) => {
    const moved = move(line)
    return moved === undefined ? [] : [{ line: moved, kind, message }]
  })
}

/** Where a finding is in the file as it is now. */
export function placeNow(
  { file, line }: Pick<ErrorEntry, 'file' | 'line'>,
  files: readonly DraftFile[],
  checked: readonly DraftFile[],
): number | undefined {
  const [now, before] = [files, checked].map((all) => all.find(({ name }) => name === file)?.text)
  if (line === undefined || now === undefined || before === undefined) return undefined
  return lineMover(before.split('\n'), now.split('\n'))(line)
}
