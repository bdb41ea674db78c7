import type { Call } from '../../operations/offered/offered.ts'
import type { OperationView } from '../command.ts'
import { findCommand } from './table.ts'

/** How the command line shows the answer of a call. A question and a change may have the same name. */
export async function renderingOf({ operation }: Call): Promise<OperationView> {
  const command = await findCommand(operation.name)
  const views = [command, ...Object.values(command?.operation?.instead ?? {})]
  const found = views.find((each) => each?.operation?.operation.kind === operation.kind)
  if (found?.operation === undefined) throw new Error(`no command shows ${operation.name}`)
  return found.operation
}
