import { type CommandSpec, gatewayOptions, outputOption } from '../command.ts'
import help from '../help-texts/gateway.json' with { type: 'json' }

export const loginSpec = {
  ...help['gateway login'],
  name: 'gateway login',
  summary: 'log in to the console of a gateway',
  details: `Asks for the password without showing it, for a one-time code if the account has one, and for the
text of a picture where the gateway wants a captcha. Keeps the session in a file that only you can
read, in $XDG_STATE_HOME/postern (default: ~/.local/state/postern), one for each gateway. Then every
command that the management API offers works with --gateway URL, or with POSTERN_GATEWAY set to it.

Within five minutes after the login, changes do not ask for the password again.`,
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
} as const satisfies CommandSpec

export const logoutSpec = {
  ...help['gateway logout'],
  name: 'gateway logout',
  summary: 'end the session at the console of a gateway, and delete it here',
  arguments: [],
  options: gatewayOptions,
} as const satisfies CommandSpec

export const whoamiSpec = {
  ...help['gateway whoami'],
  name: 'gateway whoami',
  summary: 'show who is logged in to the console of a gateway, with which role, and until when',
  arguments: [],
  options: { ...gatewayOptions, ...outputOption },
} as const satisfies CommandSpec
