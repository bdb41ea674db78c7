import { join } from 'node:path'
import { readPolicyDirectory } from '../../operations/policy/directory.ts'
import type { PolicyFile } from '../../policy/set/policy-set.ts'
import { UsageError } from '../command.ts'
import type { Io } from '../io.ts'
import { changeMs, questionMs } from './api-session.ts'
import type { Chosen } from './choose.ts'
import { printedType } from './printed.ts'
import type { Sent } from './send.ts'

/** The request for an operation; `draft` are the files that it is about, if it is about some. */
export function requestOf({ operation, input, directory }: Chosen, draft?: Draft): Sent {
  const path = operation.command.replaceAll(' ', '/')
  const common = { accept: printedType } as const
  if (operation.kind === undefined) {
    const query = new URLSearchParams(
      Object.entries(input).map(([name, value]): [string, string] => [name, String(value)]),
    )
    return { ...common, method: 'GET', path: `${path}?${query}`, timeoutMs: questionMs }
  }
  const files = directory === undefined ? {} : draft
  const waitMs = Number(input['wait'] ?? 0) * 1000
  const timeoutMs = operation.kind === 'draft' ? questionMs : changeMs + waitMs
  return { ...common, method: 'POST', path, body: { ...files, ...input }, timeoutMs }
}

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
