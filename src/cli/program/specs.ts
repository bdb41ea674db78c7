import { type CommandSpec, configOption } from '../command.ts'
import help from '../help-texts/programs.json' with { type: 'json' }

export const serveSpec = {
  ...help.serve,
  name: 'serve',
  summary: 'run the gateway until it receives SIGTERM or SIGINT',
  arguments: [],
  options: {
    ...configOption,
    tour: { description: 'after the start, print commands to try' },
  },
} as const satisfies CommandSpec

export const consoleSpec = {
  ...help.console,
  name: 'console',
  summary: 'run the console until it receives SIGTERM or SIGINT',
  arguments: [],
  options: { ...configOption },
} as const satisfies CommandSpec

export const workerSpec = {
  ...help.worker,
  name: 'worker',
  summary: 'run one worker process of the gateway',
  arguments: [],
  options: {},
} as const satisfies CommandSpec
