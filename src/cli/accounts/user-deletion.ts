import { decline } from '../../operations/declined.ts'
import { isConfirmed } from '../confirm.ts'
import type { Io } from '../io.ts'

/** Declines unless the answer is yes. */
export async function askToDelete(name: string, whom: string, io: Io): Promise<void> {
  const unasked = `stdin or stderr is not a terminal: to delete ${whom}, run again with --yes`
  if (!(await isConfirmed(`Delete ${whom}?`, unasked, io))) decline(`user ${name} is not deleted`)
}
