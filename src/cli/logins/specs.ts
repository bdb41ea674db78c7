import { type CommandSpec, configOption, outputOption } from '../command.ts'

const common = { ...outputOption, ...configOption } as const
const exitCodes = {
  3: 'the configuration or a table is not valid',
  5: 'a store is unreachable',
} as const

export const unlockSpec = {
  name: 'login unlock',
  summary: 'end the lock-outs of an account or an address',
  details: `For a user: ends the lock-out of the account, and of the account at every address. For an address: ends
its lock-out, that of its captchas, and those of accounts at this address. An IPv6 address stands for
its /64 network, which gateways count as one address. If a user has an address as name, both are
meant. Every gateway follows within two seconds.

The attempts that led to a lock-out are forgotten with it, so the full limit applies again.`,
  arguments: [{ name: 'USER|ADDRESS', description: 'user name, or an IPv4 or IPv6 address' }],
  options: { ...common },
  exitCodes: { 0: 'ended', 1: 'nothing was locked out', ...exitCodes },
  examples: ['postern login unlock alice', 'postern login unlock 2001:db8::7'],
} as const satisfies CommandSpec

export const testSpec = {
  name: 'login test',
  summary: 'log in through a gateway as a client would, and log out',
  details: `Sends a login with a captcha to the public port, logs out with the token, and waits until the gateway
refuses the token. Run it where the configuration of the gateways is, with their keys and Redis: the
command issues the captcha itself, as another gateway would, so it also shows that they share both.
The Helm chart runs it with "helm test". Use an account of its own, whose role has no permissions.`,
  arguments: [{ name: 'USER', description: 'user name of the account' }],
  options: {
    url: {
      value: 'URL',
      required: 'give the origin of the gateway',
      description: 'origin of the gateway, such as http://127.0.0.1:8000',
    },
    'password-file': {
      value: 'FILE',
      required: 'give the file with the password',
      description: 'file with the password; - is stdin',
    },
    insecure: { description: 'do not verify the certificate, for an address it does not name' },
    ...configOption,
  },
  exitCodes: {
    0: 'logged in and out',
    1: 'refused',
    2: 'bad usage',
    3: exitCodes[3],
    5: 'a store or the gateway is unreachable',
  },
  examples: ['postern login test probe --url http://127.0.0.1:8000 --password-file password.txt'],
} as const satisfies CommandSpec
