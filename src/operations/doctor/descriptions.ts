import { Type } from '../../config/schema/type.ts'
import { configArgument } from '../config/descriptions.ts'
import { local } from '../operation.ts'
import { flag, list, text, whole } from '../schema.ts'

export const doctor = local({
  name: 'doctor',
  summary: 'check everything that "postern serve" needs, and say how to fix what is wrong',
  details: `Opens what the gateway opens: configuration, keys, certificates, policy, data directory, ports, Redis,
database, identity providers and directories, connects to the targets of upstreams, and sends the trace
collector an export without spans. Prints one line for each check, and below a warning or problem what to do
about it. A warning does not keep the gateway from working.

Changes nothing: it creates no table, file or database, and is safe beside a running gateway. Run it as
the user of the gateway and with its environment. Passwords and keys are never printed.`,
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
