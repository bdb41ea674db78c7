import { type CommandSpec, gatewayOptions, outputOption } from '../command.ts'
import help from '../help-texts/gateway.json' with { type: 'json' }

export const loginSpec = {
  ...help['gateway login'],
  name: 'gateway login',
  summary: 'log in to the console of a gateway',
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
