import { isUtf8 } from 'node:buffer'
import { isAbsolute, posix, relative, sep } from 'node:path'
import { Invalid } from '../../kernel/errors.ts'
import type { PolicyFile } from '../../policy/set/policy-set.ts'
import {
  commitOf,
  contentsOf,
  entriesOf,
  type GitEntry,
  isCommitName,
  prefixOf,
  rootOf,
} from '../../stores/git/git-tree.ts'
import type { GitPlace } from '../../stores/git/run-git.ts'
import { isPart, limits, mayCount } from '../../stores/policies/policy-files.ts'
import { InvalidInput } from '../invalid-input.ts'
import type { PolicyDirectory } from './directory.ts'

/** Whether the name is a commit, as `git:REF` or `git:REF:PATH`; `./git:x` is a directory. */
export function isCommit(name: string): boolean {
  return name.startsWith('git:')
}

/**
 * Reads the policy files and the tests of a commit, without a work tree. Without a path it reads
 * `usual`, the configured directory. Throws `Invalid` when the commit has no such directory or a file
 * cannot be used, and a Fault when git cannot answer.
 */
export async function readCommit(
  name: string,
  usual: () => string,
  place: GitPlace,
): Promise<PolicyDirectory> {
  const { ref, commit, directory } = await placeInCommit(name, usual, place)
  const shown = `git:${ref}:${directory === '' ? '.' : directory}`
  const entries = await entriesOf(commit, directory, place)
  if (entries === undefined) throw invalid(shown, 'this commit has no such directory')

  const chosen = entries.filter(({ name: each, kind }) => {
    return mayCount(each) && (kind !== 'directory' || isPart.test(each))
  })
  const inTests = (await entriesOf(commit, posix.join(directory, 'tests'), place)) ?? []
  const tests = inTests.filter((entry) => entry.name.endsWith('_test.yaml'))
  return {
    name,
    files: await filesOf(chosen, shown, place),
    tests: await filesOf(tests, `${shown}/tests`, place),
    strays: [],
  }
}

/** The commit that `git:REF` or `git:REF:PATH` names, and the directory from the root of the repository. */
export async function placeInCommit(name: string, usual: () => string, place: GitPlace) {
  const [, ref = '', path] = /^git:([^:]*)(?::(.*))?$/s.exec(name) ?? []
  if (!isCommitName(ref)) {
    throw new InvalidInput(
      undefined,
      `${JSON.stringify(name)}: write git:REF or git:REF:PATH, such as git:main`,
    )
  }
  const commit = await commitOf(ref, place)
  const directory = await directoryOf(path ?? usual(), path !== undefined, place)
  return { ref, commit, directory }
}

/** A path from the root of the repository. As for git, `./` begins at the working directory. */
async function directoryOf(path: string, isGiven: boolean, place: GitPlace): Promise<string> {
  let below = path
  if (isAbsolute(path)) {
    const root = isGiven ? undefined : await rootOf(place)
    if (root === undefined) throw outside(path)
    below = relative(root, path).split(sep).join('/')
  } else if (!isGiven || /^\.\.?(?:\/|$)/.test(path)) {
    below = posix.join(await prefixOf(place), path.split(sep).join('/'))
  }
  const directory = posix.normalize(`${below}/`).replace(/\/$/, '')
  if (directory === '..' || directory.startsWith('../')) throw outside(path)
  return directory === '.' ? '' : directory
}

async function filesOf(
  entries: readonly GitEntry[],
  shown: string,
  place: GitPlace,
): Promise<readonly PolicyFile[]> {
  const fileName = ({ name }: GitEntry) => `${shown}/${name}`
  let tables = limits.tables.maxBytes
  for (const entry of entries) {
    const { name, kind, size } = entry
    if (kind === 'directory')
      throw invalid(fileName(entry), 'is a directory: a file is expected here')
    // A link could lead out of the directory, and a commit has no files on disk to follow it to.
    if (kind === 'link') {
      throw invalid(fileName(entry), 'is a symbolic link: commit the file in its place')
    }
    const limit = name.endsWith('.csv') ? { ...limits.tables, maxBytes: tables } : limits.other
    if (size > limit.maxBytes)
      throw invalid(fileName(entry), `is too large: the limit is ${limit.limit}`)
    if (name.endsWith('.csv')) tables -= size
  }
  const contents = await contentsOf(entries, place)
  return entries.map((entry, at) => {
    const bytes = contents[at] ?? Buffer.alloc(0)
    if (!isUtf8(bytes)) throw invalid(fileName(entry), 'is not UTF-8 text: save it as UTF-8')
    return { name: fileName(entry), text: bytes.toString() }
  })
}

function outside(path: string): Invalid {
  return invalid(path, 'is outside the repository: give git:REF:PATH with a path inside it')
}

function invalid(file: string, message: string): Invalid {
  return new Invalid([{ file, message }])
}
