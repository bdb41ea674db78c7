import { Type } from '../../config/schema/type.ts'
import { local } from '../operation.ts'
import { flag, list, text, whole } from '../schema.ts'

export const policyImport = local({
  kind: 'change',
  name: 'policy import',
  summary: 'import a policy from go-admin or Casbin',
  input: {
    source: {
      ...{ value: 'SOURCE', choices: ['database', 'redis'], required: 'name what to read' },
      description: 'database (go-admin) or redis (casbin-redis-adapter)',
    },
    dir: {
      ...{ value: 'DIR', required: 'name the policy directory' },
      description: 'directory to create; with --update, the one to change',
    },
    table: {
      value: 'NAME',
      description: 'database: table to read (default: the one that has rows)',
    },
    'all-exclusions': { description: "database: import all of go-admin's exclusions" },
    update: { description: 'replace the rules of an existing directory, and keep everything else' },
    key: { value: 'NAME', description: 'redis: key to read (default: policies)' },
  },
  document: Type.Object({
    ...{ revision: text, directory: text, rows: whole, taken: whole },
    ...{ added: Type.Optional(whole), removed: Type.Optional(whole) },
    keptTables: Type.Optional(list(text)),
    leftOut: list(
      Type.Object({
        ...{ row: Type.Object({ ptype: text, values: list(text), place: text }) },
        ...{ reason: text, denies: flag },
      }),
    ),
    warnings: list(text),
  }),
})
