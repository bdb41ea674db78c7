import { type GitPlace, runGit, unavailable } from './run-git.ts'

/** An entry of a directory in a commit. */
export interface GitEntry {
  readonly name: string
  /** `link` for symbolic links, `directory` also for submodules. */
  readonly kind: 'file' | 'link' | 'directory'
  readonly id: string
  readonly size: number
}

/** Whether a text may name a commit. Git must not take it for an option. */
export function isCommitName(ref: string): boolean {
  return ref !== '' && !ref.startsWith('-') && !/\p{Cc}/u.test(ref)
}

/** The ID of the commit that a name such as `main` or `HEAD~1` means. Throws a Fault if git knows no such commit. */
export async function commitOf(ref: string, place: GitPlace): Promise<string> {
  const { bytes, complaint } = await runGit(
    ['rev-parse', '--verify', '--quiet', `${ref}^{commit}`],
    place,
  )
  const id = bytes.toString().trim()
  if (/^[0-9a-f]{40,64}$/.test(id)) return id
  const reason = complaint === '' ? 'no such commit, branch or tag' : complaint
  throw unavailable(`git:${ref} cannot be read: ${reason}`)
}

/**
 * The last commits that changed a directory, the newest first: what this branch had one after the other, so
 * of a merge only the merge itself. `at` is when it was committed, `message` its first line.
 */
export async function commitsOf(ref: string, directory: string, most: number, place: GitPlace) {
  const format = '--format=%H%x00%an%x00%cI%x00%s'
  const below = directory === '' ? [] : [`:(top,literal)${directory}`]
  const args = ['rev-list', '--first-parent', `--max-count=${most}`, format, ref, '--', ...below]
  const { ok, bytes, complaint } = await runGit(args, place, { maxBytes: 64 * 2 ** 20 })
  if (!ok) throw unavailable(`git: ${complaint}`)
  return String(bytes)
    .split('\n')
    .flatMap((line) => {
      const [id = '', author = '', at = '', message] = line.split('\0')
      return message === undefined ? [] : [{ id, author, at, message }]
    })
}

/** Whether this clone lacks the older commits. */
export async function isShallow(place: GitPlace): Promise<boolean> {
  const { bytes } = await runGit(['rev-parse', '--is-shallow-repository'], place)
  return bytes.toString().trim() === 'true'
}

/** The path of the working directory below the root of the repository; empty at the root. */
export async function prefixOf(place: GitPlace): Promise<string> {
  const { ok, bytes, complaint } = await runGit(['rev-parse', '--show-prefix'], place)
  if (!ok) throw unavailable(`git: ${complaint}`)
  return bytes.toString().replace(/\n$/, '')
}

/** The root of the work tree; `undefined` in a bare repository. */
export async function rootOf(place: GitPlace): Promise<string | undefined> {
  const { ok, bytes } = await runGit(['rev-parse', '--show-toplevel'], place)
  return ok ? bytes.toString().replace(/\n$/, '') : undefined
}

/** The entries of a directory of a commit; `undefined` when the commit has no such directory. */
export async function entriesOf(
  commit: string,
  directory: string,
  place: GitPlace,
): Promise<readonly GitEntry[] | undefined> {
  const args = ['ls-tree', '-z', '-l', '--full-tree', `${commit}:${directory}`]
  const { ok, bytes } = await runGit(args, place, { maxBytes: 64 * 2 ** 20 })
  if (!ok) return undefined
  const lines = bytes.toString().split('\0').slice(0, -1)
  return lines.map((line) => {
    const tab = line.indexOf('\t')
    const [mode = '', , id = '', size = ''] = line.slice(0, tab).split(/ +/)
    return { name: line.slice(tab + 1), kind: kindOf(mode), id, size: Number(size) || 0 }
  })
}

function kindOf(mode: string): GitEntry['kind'] {
  if (mode === '120000') return 'link'
  return mode.startsWith('100') ? 'file' : 'directory'
}

/** The content of files, as it was committed: no filter changes it. */
export async function contentsOf(
  files: readonly GitEntry[],
  place: GitPlace,
): Promise<readonly Buffer[]> {
  const total = files.reduce((sum, { size }) => sum + size, 0)
  const { ok, bytes, complaint } = await runGit(['cat-file', '--batch'], place, {
    input: files.map(({ id }) => `${id}\n`).join(''),
    maxBytes: total + 200 * (files.length + 1),
  })
  if (!ok) throw unavailable(`git: ${complaint}`)
  let start = 0
  return files.map(({ name, size }) => {
    const end = bytes.indexOf('\n', start)
    const head = bytes.subarray(start, end).toString()
    if (!head.endsWith(` blob ${size}`)) {
      throw unavailable(`git: ${name} is missing in this clone: fetch it first (${head})`)
    }
    start = end + 1 + size + 1
    return bytes.subarray(end + 1, end + 1 + size)
  })
}
