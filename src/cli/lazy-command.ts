import type { Command } from './io.ts'

/** A command that is read from disk when it is asked for: a run needs one of thirty. */
export function later(load: () => Promise<Command>): Command {
  return async (args, io) => (await load())(args, io)
}
