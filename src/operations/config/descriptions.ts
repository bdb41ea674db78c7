import { Type } from '../../config/schema/type.ts'
import { question } from '../operation.ts'
import { flag, list, text, whole } from '../schema.ts'

/** The first argument of commands about a configuration. */
export const configArgument = {
  value: 'FILE',
  description:
    'configuration file (default: $POSTERN_CONFIG, else postern.yaml or config/postern.yaml)',
  local: true,
} as const

const problem = Type.Object({
  file: Type.String({ description: 'The variable, for a setting of the environment.' }),
  ...{ line: Type.Optional(whole), column: Type.Optional(whole), message: text },
  fix: Type.Optional(text),
})

export const configCheck = question({
  name: 'config check',
  summary: 'validate a configuration and the files it names',
  input: {
    file: configArgument,
    'no-files': {
      description: 'skip files and hosts, for a machine without them, such as CI',
      local: true,
    },
  },
  document: Type.Object({
    ...{ file: text, ok: flag, problems: list(problem), warnings: list(text) },
    summary: Type.Optional(Type.String({ description: 'Mode, routes and upstreams in words.' })),
  }),
})

export const configPrint = question({
  name: 'config print',
  summary: 'print the effective configuration, with defaults and with secrets masked',
  input: { file: configArgument },
  document: Type.Unknown({ description: 'The settings, as config/schema.json describes them.' }),
})
