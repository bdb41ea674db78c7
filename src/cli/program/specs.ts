import { type CommandSpec, configOption } from '../command.ts'
import help from '../help-texts/programs.json' with { type: 'json' }

export const serveSpec = {
  ...help.serve,
  name: 'serve',
  summary: 'run the gateway until it receives SIGTERM or SIGINT',
  details: `The first signal closes the listeners and lets open requests finish, for at most shutdown.deadlineMs.
A second one, at least a second later, closes what is still open. Policies, keys, certificates and the
configuration file are reloaded when they change; SIGHUP reloads the configuration file at once.
Settings that need a restart are named in the log.`,
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
  details: `Serves the pages and the management API of console.host and console.port, for operators, on the Redis
and the database of the configuration. "postern serve" starts it by itself when console.enabled is
true; run it alone to keep it on another machine than the gateways. The embedded database must exist.`,
  arguments: [],
  options: { ...configOption },
} as const satisfies CommandSpec

export const workerSpec = {
  ...help.worker,
  name: 'worker',
  summary: 'run one worker process of the gateway',
  details: 'Internal: "postern serve" starts it when application.workers is above 1.',
  arguments: [],
  options: {},
} as const satisfies CommandSpec
