import { Invalid, type Problem } from '../../../kernel/errors.ts'
import type { Imported } from '../../../policy/import/import-rows.ts'
import { domainModelIn, mergeImported } from '../../../policy/import/merged-table.ts'
import type { Model } from '../../../policy/model/model.ts'
import { type PolicyFile, type PolicySet, parsePolicySet } from '../../../policy/set/policy-set.ts'
import { readPolicyFiles, readTestFiles } from '../policy-files.ts'
import type { Followed } from './follower.ts'
import { writeImportedTable } from './imported-table.ts'

interface DirectoryParts {
  readonly directory: string
  /** As messages name it. */
  readonly shown: string
  /** The tests of the directory that the policy fails. */
  readonly failing: (set: PolicySet, tests: readonly PolicyFile[]) => readonly Problem[]
}

/**
 * Merges rules into a policy directory that stays valid and passes its own tests. Throws `Invalid`, and
 * writes nothing, when it would not.
 */
export async function updateDirectory(
  imported: Imported,
  { directory, shown, failing }: DirectoryParts,
): Promise<Followed> {
  const before = await readPolicyFiles(directory, shown)
  const { files, added, removed } = mergeImported(before, imported)
  const set = parsePolicySet(files)
  const problems = failing(set, await readTestFiles(directory, shown))
  if (problems.length > 0) throw new Invalid(problems)
  if (added + removed > 0) await writeImportedTable(directory, imported.table.text, shown)
  return { revision: set.revision, added, removed }
}

/** The model of the directory, if it has a domain. */
export async function followedModel({
  directory,
  shown,
}: Pick<DirectoryParts, 'directory' | 'shown'>): Promise<Model | undefined> {
  return domainModelIn(await readPolicyFiles(directory, shown))
}
