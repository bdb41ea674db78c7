import type { Commands } from '../../cli/command.ts'
import { findCommand } from '../../cli/commands/table.ts'

/** What the management API runs. */
export const everyCommand: Commands = {
  find: findCommand,
  // With the extension of this file: `.ts` in the source, `.js` in the build.
  threadFile: new URL(import.meta.url.replace(/every-command(?=\.[jt]s$)/, 'command-thread')),
}
