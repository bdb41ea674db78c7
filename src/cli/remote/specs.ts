import { type CommandSpec, gatewayOptions, outputOption } from '../command.ts'

const unreachable = 'the console is unreachable or refuses'

export const loginSpec = {
  name: 'gateway login',
  summary: 'log in to the console of a gateway',
  details: `Asks for the password without showing it, for a one-time code if the account has one, and for the
text of a picture where the gateway wants a captcha. Keeps the session in a file that only you can
read, in $XDG_STATE_HOME/postern (default: ~/.local/state/postern), one for each gateway. Then every
command that the management API offers works with --gateway URL, or with POSTERN_GATEWAY set to it.

Within five minutes after the login, changes do not ask for the password again.`,
  usage: ['--gateway URL [--user NAME] [OPTIONS]'],
  arguments: [],
  options: {
    ...gatewayOptions,
    user: { value: 'NAME', description: 'user name (default: ask for it)' },
    provider: {
      value: 'NAME',
      description: 'directory or login module that checks the password, if not Postern',
    },
    'password-stdin': { description: 'read the password from stdin instead of asking' },
  },
  exitCodes: { 0: 'logged in', 1: 'not logged in: refused', 5: unreachable },
  examples: [
    'postern gateway login --gateway https://gateway.example.com:9200 --user alice',
    'postern gateway login --gateway http://127.0.0.1:9200 --user alice --password-stdin < password.txt',
  ],
} as const satisfies CommandSpec

export const logoutSpec = {
  name: 'gateway logout',
  summary: 'end the session at the console of a gateway, and delete it here',
  usage: ['--gateway URL [OPTIONS]'],
  arguments: [],
  options: gatewayOptions,
  exitCodes: {
    0: 'logged out, or not logged in',
    5: 'deleted here, but the console is unreachable or refuses: there it is valid until it expires',
  },
  examples: ['postern gateway logout --gateway https://gateway.example.com:9200'],
} as const satisfies CommandSpec

export const whoamiSpec = {
  name: 'gateway whoami',
  summary: 'show who is logged in to the console of a gateway, with which role, and until when',
  usage: ['--gateway URL [OPTIONS]'],
  arguments: [],
  options: { ...gatewayOptions, ...outputOption },
  exitCodes: { 0: 'shown', 5: `not logged in, or ${unreachable}` },
  examples: ['postern gateway whoami --gateway https://gateway.example.com:9200'],
} as const satisfies CommandSpec
