import { relative, resolve } from 'node:path'
import { Invalid } from '../../kernel/errors.ts'
import { type PolicyFile, parsePolicySet } from '../../policy/set/policy-set.ts'
import { readPolicyFiles, readTestFiles } from '../../stores/policies/policy-files.ts'
import type { Surroundings } from '../context.ts'
import type { RunOf } from '../operation.ts'
import { type PolicySettings, policySettings } from '../policy-settings.ts'
import type { policyFiles } from './descriptions.ts'
import { namesIn } from './directory.ts'
import { loadedBy } from './policy-query.ts'
import { isPublished, readVersion } from './versions.ts'

/** Reads the files of a policy, for those who want to change it. */
export const run: RunOf<typeof policyFiles> = async ({ revision: named, tests }, context) => {
  const settings = policySettings(context.configFile, context)
  const name = named ?? loadedBy(settings)
  const { revision, files } = isPublished(name)
    ? await readPublishedFiles(name, settings, context)
    : await readDirectory(name, context)
  const directory = isPublished(name) ? settings.directory : name
  const tested = tests ? await testsIn(directory, context) : []
  const all = [...files, ...tested].map((file) => inDirectory(file, directory))
  return { document: { policy: name, revision, files: all } }
}

async function readPublishedFiles(name: string, settings: PolicySettings, io: Surroundings) {
  const { set, files } = await readVersion(name, settings, io)
  return { revision: set.revision, files }
}

/** A policy that is not valid has no revision, but can be shown all the same. */
async function readDirectory(name: string, io: Surroundings) {
  const files = await readPolicyFiles(resolve(io.cwd, name), name)
  try {
    return { revision: parsePolicySet(files).revision, files }
  } catch (error) {
    if (!(error instanceof Invalid)) throw error
    return { revision: null, files }
  }
}

/** The tests of a directory; none for a published policy, which has no directory. */
async function testsIn(directory: string, { cwd }: Surroundings): Promise<readonly PolicyFile[]> {
  const path = resolve(cwd, directory)
  return (await namesIn(path)).length === 0 ? [] : readTestFiles(path, directory)
}

/** Published files have no directory in their name. */
function inDirectory({ name, text }: PolicyFile, directory: string): PolicyFile {
  const within = relative(directory, name)
  return { name: within.startsWith('..') ? name : within, text }
}
