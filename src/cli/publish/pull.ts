import { basename, join, resolve } from 'node:path'
import { decline } from '../../operations/declined.ts'
import {
  createPolicyDirectory,
  namesIn,
  replacePolicyFiles,
} from '../../operations/policy/directory.ts'
import { readPublished } from '../../operations/policy/versions.ts'
import { policySettings, withPolicyStore } from '../../operations/policy-settings.ts'
import { baseNotWritten, writeBase } from '../../operations/publish/base.ts'
import type { PolicyFile } from '../../policy/set/policy-set.ts'
import { isRevision } from '../../stores/policies/document/policy-document.ts'
import { readPolicyFiles } from '../../stores/policies/policy-files.ts'
import { type Run, UsageError } from '../command.ts'
import { count, json } from '../format.ts'
import type { pullSpec } from './specs.ts'

/** Writes a published policy into a directory. */
export const policyPull: Run<typeof pullSpec> = async (call, io) => {
  const {
    options,
    arguments: [first, second],
  } = call
  const isName = first === 'live' || (first !== undefined && isRevision(first))
  if (!isName && second !== undefined) {
    throw new UsageError(
      `${JSON.stringify(first)} is neither "live" nor a revision such as r-3f2a9c81d604`,
    )
  }
  const settings = policySettings(options.config, io)
  const directory = (isName ? second : first) ?? settings.directory
  const { files, set } = await withPolicyStore(settings, (store) =>
    readPublished(isName ? first : 'live', { store, settings, io }),
  )

  for (const { name } of files) {
    // An attacker who can write to Redis must not choose where this machine writes files.
    if (basename(name) !== name || name.startsWith('.')) {
      return decline(
        `${set.revision} contains a file that is not a policy file: ${JSON.stringify(name)}`,
      )
    }
  }

  const present = await presentFiles(resolve(io.cwd, directory))
  const isCurrent = present !== undefined && isSame(present, files)
  if (present === undefined) await createPolicyDirectory(directory, io.cwd, files)
  else if (!isCurrent) {
    if (present.length > 0 && !options.force) {
      return decline(`${directory} has other policy files: choose a new directory, or add --force`)
    }
    await replacePolicyFiles(directory, io.cwd, files)
  }

  const place = { directory, cwd: io.cwd, redis: settings.redis() }
  if (!(await writeBase(place, set.revision))) io.err(`${baseNotWritten(directory)}\n`)
  const written = isCurrent ? 0 : files.length
  if (options.output === 'json') io.out(json({ revision: set.revision, directory, written }))
  else {
    const done = isCurrent
      ? `${directory} is up to date`
      : `wrote ${count(written, 'file')} to ${directory}`
    io.out(`${set.revision}: ${done}\n`)
    for (const { name } of isCurrent ? [] : files) io.err(`${join(directory, name)}\n`)
  }
  return 0
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
