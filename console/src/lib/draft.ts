/** A file of a draft. */
export interface DraftFile {
  readonly name: string
  readonly text: string
}

/** What the management API accepts: neither a path out of the directory nor a hidden file. */
const fileName =
  /^(?:tests\/[A-Za-z0-9_-]{1,100}_test\.yaml|[A-Za-z0-9_-]{1,100}\.(?:csv|conf|yaml))$/

/** Why a file cannot have this name. */
export function nameProblem(
  name: string,
  others: readonly DraftFile[],
): 'form' | 'taken' | undefined {
  if (!fileName.test(name)) return 'form'
  return others.some((file) => file.name === name) ? 'taken' : undefined
}

/** The policy first, then its tests, each by name: the order in which the command reads them. */
export function inOrder(files: readonly DraftFile[]): readonly DraftFile[] {
  const rank = ({ name }: DraftFile) => `${name.startsWith('tests/') ? 1 : 0} ${name}`
  return files.toSorted((left, right) => (rank(left) < rank(right) ? -1 : 1))
}

export type FileState = 'same' | 'changed' | 'added'

/** How a file differs from the one of the same name that the draft began with. */
export function stateOf({ name, text }: DraftFile, base: readonly DraftFile[]): FileState {
  const before = base.find((file) => file.name === name)
  if (before === undefined) return 'added'
  return before.text === text ? 'same' : 'changed'
}

/** Whether a draft differs from what it began with. */
export function isChanged(files: readonly DraftFile[], base: readonly DraftFile[]): boolean {
  return files.length !== base.length || files.some((file) => stateOf(file, base) !== 'same')
}

/** The limit of the management API, of which JSON needs a part for its own signs. */
export const mostBytes = 8_388_608
export const mostFiles = 100

/** Which limit of the management API a draft exceeds. */
export function limitOf(files: readonly DraftFile[]): 'files' | 'bytes' | undefined {
  if (files.length > mostFiles) return 'files'
  // A character takes up to three bytes: only a draft near the limit is measured.
  const characters = files.reduce((sum, { name, text }) => sum + name.length + text.length, 0)
  if (characters * 3 < mostBytes / 2) return undefined
  const bytes = new TextEncoder().encode(JSON.stringify({ files })).length
  return bytes > mostBytes - 8192 ? 'bytes' : undefined
}
