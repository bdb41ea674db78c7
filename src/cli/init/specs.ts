import { init } from '../../operations/init/descriptions.ts'
import type { CommandSpec } from '../command.ts'

const { dir, password: _, ...options } = init.input

export const initSpec = {
  name: init.name,
  summary: init.summary,
  details: init.details ?? '',
  arguments: [{ name: 'DIR', optional: true, description: dir.description }],
  options: {
    ...options,
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
