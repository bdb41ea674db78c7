import { join } from 'node:path'
import type { DraftDirectory } from '../../operations/context.ts'
import type { Input } from '../../operations/offered/check-input.ts'
import { type Call, hasFiles, isPost, pathOf } from '../../operations/offered/offered.ts'
import { readPolicyDirectory } from '../../operations/policy/directory.ts'
import { UsageError } from '../command.ts'
import type { Io } from '../io.ts'
import { changeMs, questionMs } from './api-session.ts'
import type { ApiCall } from './send.ts'

/** The request for a call; `draft` are the files that it is about, if it is about some. */
export function requestOf(call: Call, input: Input, draft?: Draft): ApiCall {
  const path = pathOf(call)
  if (!isPost(call)) {
    const query = new URLSearchParams(
      Object.entries(input).map(([name, value]): [string, string] => [name, String(value)]),
    )
    return { method: 'GET', path: `${path}?${query}`, timeoutMs: questionMs }
  }
  const waitMs = Number(input['wait'] ?? 0) * 1000
  const timeoutMs = call.kind === 'draft' ? questionMs : changeMs + waitMs
  const body = { ...(hasFiles(call) && draft), ...input }
  return { method: 'POST', path, body, timeoutMs }
}

/** The files of a policy directory of this machine, with names relative to it. */
export interface Draft {
  readonly files: DraftDirectory['files']
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
