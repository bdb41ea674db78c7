import { changeMs, questionMs } from './ask-console.ts'
import type { Chosen } from './choose.ts'
import type { Draft } from './draft.ts'
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
