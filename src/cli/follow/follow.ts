import { followGoAdmin, type Watching } from '../../operations/publish/follow.ts'
import type { Run } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { jsonLine, printable } from '../format.ts'
import type { Io } from '../io.ts'
import { contextOf } from '../operation-context.ts'
import { remarksInWords } from '../publish/remark-in-words.ts'
import type { followSpec } from './specs.ts'

/** Publishes go-admin's policy whenever it changes, and prints what happens. */
export const policyFollow: Run<typeof followSpec> = async (call, io) => {
  const { interval = 3, once, config, output, ...options } = call.options
  const [, directory] = call.arguments
  const following = { ...options, directory, everyMs: interval * 1000 }
  const isGood = await followGoAdmin(following, contextOf(config, io), {
    tell: (remark) => io.err(remarksInWords([remark])),
    log: createFollowLog(output, io),
    untilStopped: () => untilStopped(io, once),
  })
  return once && !isGood ? exitCodes.no : exitCodes.done
}

/** The first signal, or at once for a single comparison. */
async function untilStopped({ host }: Io, once: boolean): Promise<void> {
  if (once || host === undefined) return
  await new Promise<void>((stop) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) host.once(name, () => stop())
  })
}

/** A line for each event: text for people on `err`, or JSON on `out`. */
function createFollowLog(output: 'text' | 'json', io: Io): Watching['log'] {
  const at = () => new Date(io.now?.() ?? Date.now()).toISOString()
  const write = (level: 'info' | 'warn', fields: object, msg: string) => {
    if (output === 'json') return io.out(jsonLine({ level, time: at(), ...fields, msg }))
    const shown = Object.entries(fields).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}=${value}`],
    )
    io.err(
      `${printable([at(), level === 'warn' ? 'warning:' : '', `${msg}:`, ...shown].filter(Boolean).join(' '))}\n`,
    )
  }
  return {
    info: (fields, text) => write('info', fields, text),
    warn: (fields, text) => write('warn', fields, text),
  }
}
