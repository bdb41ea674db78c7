import { basename, resolve } from 'node:path'
import type { PolicyFile } from '../../policy/set/policy-set.ts'
import { isRevision } from '../../stores/policies/document/policy-document.ts'
import { readPolicyFiles } from '../../stores/policies/policy-files.ts'
import { decline } from '../declined.ts'
import { InvalidInput } from '../invalid-input.ts'
import type { RunOf } from '../operation.ts'
import { createPolicyDirectory, namesIn, replacePolicyFiles } from '../policy/directory.ts'
import { readPublished } from '../policy/versions.ts'
import { policySettings, withPolicyStore } from '../policy-settings.ts'
import { baseNotWritten, writeBase } from './base.ts'
import type { policyPull } from './descriptions.ts'

/** Writes a published policy into a directory. `shown` are the names of the files. */
export const run: RunOf<typeof policyPull, readonly string[]> = async (input, context) => {
  const { revision: first, dir: second } = input
  const { cwd } = context
  const isName = first === 'live' || (first !== undefined && isRevision(first))
  if (!isName && second !== undefined) {
    const message = 'is neither "live" nor a revision such as r-3f2a9c81d604'
    throw new InvalidInput(undefined, `${JSON.stringify(first)} ${message}`)
  }
  const settings = policySettings(context.configFile, context)
  const directory = (isName ? second : first) ?? settings.directory
  const { files, set } = await withPolicyStore(settings, (store) =>
    readPublished(isName ? first : 'live', { store, settings, io: context }),
  )
  const { revision } = set
  for (const { name } of files) {
    // An attacker who can write to Redis must not choose where this machine writes files.
    if (basename(name) !== name || name.startsWith('.')) {
      return decline(
        `${revision} contains a file that is not a policy file: ${JSON.stringify(name)}`,
      )
    }
  }

  const present = await presentFiles(resolve(cwd, directory))
  const isCurrent = present !== undefined && isSame(present, files)
  if (present === undefined) await createPolicyDirectory(directory, cwd, files)
  else if (!isCurrent) {
    if (present.length > 0 && !input.force) {
      return decline(`${directory} has other policy files: choose a new directory, or add --force`)
    }
    await replacePolicyFiles(directory, cwd, files)
  }

  const isNoted = await writeBase({ directory, cwd, redis: settings.redis() }, revision)
  return {
    document: { revision, directory, written: isCurrent ? 0 : files.length },
    shown: isCurrent ? [] : files.map(({ name }) => name),
    notes: isNoted ? [] : [baseNotWritten(directory)],
  }
}

/** The policy files of a directory by base name, without notes; `undefined` when it has no files. */
async function presentFiles(directory: string): Promise<readonly PolicyFile[] | undefined> {
  if ((await namesIn(directory)).length === 0) return undefined
  const files = await readPolicyFiles(directory)
  return files
    .map(({ name, text }) => ({ name: basename(name), text }))
    .filter(({ name }) => !name.endsWith('.md'))
}

function isSame(present: readonly PolicyFile[], files: readonly PolicyFile[]): boolean {
  const texts = new Map(files.map(({ name, text }) => [name, text]))
  return (
    present.length === texts.size && present.every(({ name, text }) => texts.get(name) === text)
  )
}
