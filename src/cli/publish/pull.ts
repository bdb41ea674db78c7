import { basename, join, resolve } from 'node:path'
import type { PolicyFile } from '../../policy/set/policy-set.ts'
import { isRevision } from '../../stores/policies/document/policy-document.ts'
import { readPolicyFiles } from '../../stores/policies/policy-files.ts'
import { badArguments, count, json, policyCommand } from '../command.ts'
import { createPolicyDirectory, namesIn, replacePolicyFiles } from '../policy/directory.ts'
import { readPublished } from '../policy/versions.ts'
import { policySettings, refuse, withPolicyStore } from '../settings.ts'
import { baseNotWritten, writeBase } from './base.ts'

const help = `usage: postern policy pull [REVISION|live] [DIR] [--force] [--output text|json] [--config FILE]

Writes a published policy into a directory: model.conf, *.csv and exclusions.yaml as they were
pushed. A directory that has other policy files is left alone, unless --force replaces them; its
tests are never touched. DIR/.postern/base notes the revision, so that a push from the directory is
refused once another one is live.

  postern policy pull                                  live, into the directory of the configuration
  postern policy pull r-3f2a9c81d604 ../before         a revision, into a new directory
  postern policy pull live policies --force

Exit codes: 0 written or already there, 1 not, 2 bad arguments.
`

/** Brings a published policy back into files. */
export const policyPull = policyCommand(
  { help, options: { force: { type: 'boolean' } }, positionals: [0, 2] },
  async ({ values, positionals, output }, io) => {
    const [first, second] = positionals
    const isName = first === 'live' || (first !== undefined && isRevision(first))
    if (!isName && second !== undefined) {
      return badArguments(`${first} is neither a revision nor live`, { help, io })
    }
    const settings = policySettings(values.config, io)
    const directory = (isName ? second : first) ?? settings.directory
    const { files, set } = await withPolicyStore(settings, (store) =>
      readPublished(isName ? first : 'live', store),
    )

    for (const { name } of files) {
      // Whoever can write to Redis must not choose where on this machine files are written.
      if (basename(name) !== name || name.startsWith('.')) {
        return refuse(`${set.revision} has a file that is no policy file: ${JSON.stringify(name)}`)
      }
    }

    const present = await presentFiles(resolve(io.cwd, directory))
    const isThere = present !== undefined && isSame(present, files)
    if (present === undefined) await createPolicyDirectory(directory, io.cwd, files)
    else if (!isThere) {
      if (present.length > 0 && values.force !== true) {
        return refuse(`${directory} has other policy files: name a new directory, or add --force`)
      }
      await replacePolicyFiles(directory, io.cwd, files)
    }

    const place = { directory, cwd: io.cwd, redis: settings.redis() }
    if (!(await writeBase(place, set.revision))) io.err(baseNotWritten(directory))
    const written = isThere ? 0 : files.length
    if (output === 'json') io.out(json({ revision: set.revision, directory, written }))
    else {
      io.out(
        `${set.revision}: ${isThere ? 'already' : `${count(written, 'file')} written`} in ${directory}\n`,
      )
      for (const { name } of isThere ? [] : files) io.err(`${join(directory, name)}\n`)
    }
    return 0
  },
)

/** The policy files of a directory by base name, notes left out; nothing when it is not there. */
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
