import { Type } from '../../config/schema/type.ts'
import { configArgument } from '../config/descriptions.ts'
import { local } from '../operation.ts'
import { flag, list, text, whole } from '../schema.ts'

export const doctor = local({
  name: 'doctor',
  summary: 'check everything that "postern serve" needs, and say how to fix what is wrong',
  input: {
    file: configArgument,
    timeout: {
      value: 'SECONDS',
      number: { min: 1, max: 600 },
      default: '15',
      description: 'time for each check; all run at once',
    },
  },
  document: Type.Object({
    ...{ file: text, ok: flag, problems: whole, warnings: whole },
    checks: list(
      Type.Object({
        check: text,
        status: Type.Enum(['ok', 'warning', 'problem']),
        message: text,
        fix: Type.Optional(text),
      }),
    ),
  }),
})
