import { join } from 'node:path'
import { readPolicyDirectory } from '../../operations/policy/directory.ts'
import type { PolicyFile } from '../../policy/set/policy-set.ts'
import { UsageError } from '../command.ts'
import type { Io } from '../io.ts'

/** The files of a policy directory of this machine, with names relative to it. */
export interface Draft {
  readonly files: readonly PolicyFile[]
  readonly directory: string
}

export async function readDraft(directory: string, io: Io): Promise<Draft> {
  if (/^git:|^live$|^r-[0-9a-f]+$/.test(directory)) {
    throw new UsageError(`with --gateway, ${directory} must be a directory of this machine`)
  }
  const { files, tests } = await readPolicyDirectory(directory, io)
  const below = join(directory, 'x').length - 1
  const named = [...files, ...tests].map(({ name, text }) => ({ name: name.slice(below), text }))
  return { files: named, directory }
}
