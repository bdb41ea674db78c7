import { type CommandSpec, configOption, outputOption } from '../command.ts'

export const totpSpec = {
  name: 'user totp',
  summary: 'enroll an account in one-time codes, and manage its recovery codes',
  details: `Prints a QR code for an authenticator app and, when a code from the app confirms it, ten recovery codes. Both are
shown once. From then on every login of the account needs the field "otp": a code from the app, or a recovery
code, each of which works once. Revokes every token of the user. For an account that is enrolled already it
replaces app and recovery codes. Needs the keys of the gateways, which encrypt the secret.`,
  usage: ['NAME [--no-confirm] [--yes]', 'NAME --recovery-codes', 'NAME --remove', '--list'],
  arguments: [{ name: 'NAME', description: 'user name', unless: ['list', 'reencrypt'] }],
  options: {
    'no-confirm': { description: 'enroll without a code from the app' },
    yes: { description: 'do not ask before replacing one-time codes' },
    'recovery-codes': { description: 'print ten new recovery codes; the old ones stop working' },
    remove: {
      description: 'remove one-time codes and recovery codes: the password is enough again',
    },
    list: {
      description:
        'list who has one-time codes, who still needs them, and with which key they are encrypted',
    },
    reencrypt: {
      description:
        'encrypt every secret with the key that signs now; run it before you delete a key',
    },
    ...outputOption,
    ...configOption,
  },
  exitCodes: {
    0: 'done, or listed',
    1: 'not done: unknown user, not enrolled, not confirmed, or a key to decrypt with is not loaded',
    3: 'the configuration, a key or a table is not valid',
    5: 'a store is unreachable, or the key of the secret is not loaded',
  },
  examples: [
    'postern user totp alice',
    'postern user totp alice --no-confirm --output json  # for a script that shows the QR code itself',
    'postern user totp alice --recovery-codes',
    'postern user totp --list',
  ],
} as const satisfies CommandSpec
