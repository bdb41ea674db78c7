import { relative, resolve } from 'node:path'
import { Invalid } from '../../../errors.ts'
import { loadedBy } from '../../../operations/policy/asked-policy.ts'
import { namesIn } from '../../../operations/policy/directory.ts'
import { isPublished, readVersion } from '../../../operations/policy/versions.ts'
import { type PolicySettings, policySettings } from '../../../operations/policy-settings.ts'
import { type PolicyFile, parsePolicySet } from '../../../policy/set/policy-set.ts'
import { readPolicyFiles, readTestFiles } from '../../../stores/policies/policy-files.ts'
import type { Run } from '../../command.ts'
import { exitCodes } from '../../exit-codes.ts'
import { json, printable } from '../../format.ts'
import type { Io } from '../../io.ts'
import type { filesSpec } from './specs.ts'

/** Prints the files of a policy, for those who want to change it. */
export const policyFiles: Run<typeof filesSpec> = async ({ options, arguments: [named] }, io) => {
  const settings = policySettings(options.config, io)
  const name = named ?? loadedBy(settings)
  const { revision, files } = isPublished(name)
    ? await readPublishedFiles(name, settings, io)
    : await readDirectory(name, io)
  const directory = isPublished(name) ? settings.directory : name
  const tests = options.tests ? await testsIn(directory, io) : []
  const all = [...files, ...tests].map((file) => inDirectory(file, directory))
  if (options.output === 'json') io.out(json({ policy: name, revision, files: all }))
  else for (const file of all) io.out(formatFile(file))
  return exitCodes.done
}

async function readPublishedFiles(name: string, settings: PolicySettings, io: Io) {
  const { set, files } = await readVersion(name, settings, io)
  return { revision: set.revision, files }
}

/** A policy that is not valid has no revision, but somebody who wants to see it. */
async function readDirectory(name: string, io: Io) {
  const files = await readPolicyFiles(resolve(io.cwd, name), name)
  try {
    return { revision: parsePolicySet(files).revision, files }
  } catch (error) {
    if (!(error instanceof Invalid)) throw error
    return { revision: null, files }
  }
}

/** The tests of a directory; none where the policy is published and nobody has the directory. */
async function testsIn(directory: string, { cwd }: Io): Promise<readonly PolicyFile[]> {
  const path = resolve(cwd, directory)
  return (await namesIn(path)).length === 0 ? [] : readTestFiles(path, directory)
}

/** Published files have no directory in their name. */
function inDirectory({ name, text }: PolicyFile, directory: string): PolicyFile {
  const within = relative(directory, name)
  return { name: within.startsWith('..') ? name : within, text }
}

/** As `head` prints several files; a text that lacks its last line break gets one. */
function formatFile({ name, text }: PolicyFile): string {
  const lines = text.split('\n').map(printable).join('\n')
  return `==> ${printable(name)} <==\n${lines}${lines.endsWith('\n') ? '' : '\n'}\n`
}
