import { init } from '../../operations/init/descriptions.ts'
import type { CommandSpec } from '../command.ts'
import help from '../help-texts/programs.json' with { type: 'json' }

const { dir, password: _, ...options } = init.input

export const initSpec = {
  ...help.init,
  name: init.name,
  summary: init.summary,
  arguments: [{ name: 'DIR', optional: true, description: dir.description }],
  options: {
    ...options,
    'password-stdin': {
      description:
        'read the password (8 to 72 bytes, not a common one) instead of generating one into secrets/password',
    },
  },
} as const satisfies CommandSpec
