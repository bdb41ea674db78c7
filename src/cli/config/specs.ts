import { type CommandSpec, fileArgument, outputOption } from '../command.ts'

const outputOnce = { output: { ...outputOption.output, once: true } } as const

export const checkSpec = {
  name: 'config check',
  summary: 'validate a configuration and the files it names',
  details: `Opens certificates, keys, the key directory and the policy directory as "postern serve" does, and
tries to listen on the configured hosts, on a free port. Prints every problem with its line.`,
  arguments: [fileArgument],
  options: {
    'no-files': { description: 'skip files and hosts, for a machine without them, such as CI' },
    ...outputOnce,
  },
  exitCodes: { 0: 'valid', 3: 'not valid' },
  examples: [
    'postern config check',
    'postern config check config/production.yaml --no-files',
    "postern config check --output json | jq -r '.problems[].message'",
  ],
} as const satisfies CommandSpec

export const printSpec = {
  name: 'config print',
  summary: 'print the effective configuration, with defaults and with secrets masked',
  arguments: [fileArgument],
  options: { ...outputOnce },
  exitCodes: { 0: 'printed', 3: 'the configuration is not valid' },
  examples: [
    'postern config print',
    'postern config print config/production.yaml --output json | jq .limits',
  ],
} as const satisfies CommandSpec

export const schemaSpec = {
  name: 'config schema',
  summary: 'print the JSON Schema of the configuration file',
  arguments: [],
  options: {},
  exitCodes: { 0: 'printed' },
  examples: ['postern config schema > schema.json'],
} as const satisfies CommandSpec
