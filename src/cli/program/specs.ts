import { type CommandSpec, configOption } from '../command.ts'

export const serveSpec = {
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
  exitCodes: {
    0: 'stopped by a signal',
    1: 'a port, store or file is unavailable, or the shutdown was not clean',
    3: 'the configuration, the policy or a table is not valid',
  },
  examples: [
    'postern serve',
    'postern serve --config /etc/postern/postern.yaml',
    'POSTERN_APPLICATION__PORT=8080 postern serve  # every setting has a variable',
  ],
} as const satisfies CommandSpec

export const consoleSpec = {
  name: 'console',
  summary: 'run the console until it receives SIGTERM or SIGINT',
  details: `Serves the pages and the management API of console.host and console.port, for operators, on the Redis
and the database of the configuration. "postern serve" starts it by itself when console.enabled is
true; run it alone to keep it on another machine than the gateways. The embedded database must exist.`,
  arguments: [],
  options: { ...configOption },
  exitCodes: {
    0: 'stopped by a signal',
    1: 'a port, store or file is unavailable, or the shutdown was not clean',
    3: 'the configuration, a key, a certificate or a table is not valid, or the pages are not built',
  },
  examples: [
    'postern console',
    'postern console --config /etc/postern/postern.yaml',
    'POSTERN_CONSOLE__PORT=9300 postern console',
  ],
} as const satisfies CommandSpec

export const workerSpec = {
  name: 'worker',
  summary: 'run one worker process of the gateway',
  details: 'Internal: "postern serve" starts it when application.workers is above 1.',
  arguments: [],
  options: {},
  exitCodes: { 0: 'stopped by the supervisor', 1: 'the worker failed' },
  examples: ['postern serve  # starts the workers itself'],
} as const satisfies CommandSpec
