import type { Programs } from '../../cli/io.ts'

/** What the commands that run until a signal stops them are made of. */
export const programs: Programs = {
  serve: async (options, io) => (await import('./serve.ts')).serve(options, io),
  worker: async (_, io) => (await import('./worker.ts')).worker(io),
  console: async (options, io) => (await import('./run-console.ts')).runConsole(options, io),
}
