import type { CommandSpec } from '../command.ts'

const templates = ['minimal', 'go-admin', 'forward-auth', 'kubernetes'] as const

export const initSpec = {
  name: 'init',
  summary: 'write a configuration and a policy to start from, and create a role and an account',
  details: `Writes postern.yaml with comments, its schema for editors, policies/ with a rule and a test, and .gitignore. Creates
a signing key, the embedded database, a role and an account. Asks on a terminal for what no option gives.
Overwrites nothing: an existing .gitignore gets the missing lines. Secrets are generated into files that
only you can read. Ignores POSTERN_ variables. Prints what to do next.

Template minimal is a gateway in front of one service, with accounts of its own. go-admin has the accounts and the
policy of go-admin. forward-auth answers the auth requests of nginx, Traefik, Caddy or Envoy, with accounts of its
own. kubernetes has values.yaml for the Helm chart instead of postern.yaml, and creates no account.`,
  arguments: [
    { name: 'DIR', optional: true, description: 'directory, created if missing (default: .)' },
  ],
  options: {
    template: {
      value: 'NAME',
      choices: templates,
      default: 'minimal',
      description: 'minimal, go-admin, forward-auth or kubernetes',
    },
    upstream: {
      value: 'URL',
      description:
        'address of your service (default: http://127.0.0.1:3000; go-admin: http://go-admin:8000; kubernetes: http://app:8080)',
    },
    port: {
      value: 'PORT',
      number: { min: 1, max: 65_535, integer: true },
      description: 'port of the gateway (default: 8000)',
    },
    role: { value: 'KEY', default: 'member', description: 'key of the role to create' },
    user: { value: 'NAME', description: 'name of the account (default: your user name)' },
    'password-stdin': {
      description:
        'read the password (8 to 72 bytes, not a common one) instead of generating one into secrets/password',
    },
  },
  exitCodes: {
    0: 'created',
    1: 'not created: a file exists, or the questions were not answered',
    3: 'the result would not be valid, such as an upstream that is the gateway itself',
    5: 'the directory or the embedded database cannot be written',
  },
  examples: [
    'postern init && postern serve',
    'postern init shop --upstream http://127.0.0.1:3000 --user ada',
    'postern init --template forward-auth --user ada --password-stdin < password.txt',
  ],
} as const satisfies CommandSpec

export type TemplateName = (typeof templates)[number]
