import { resolve } from 'node:path'
import { Invalid } from '../../kernel/errors.ts'
import { printable } from '../../kernel/printable.ts'
import { goAdminExclusions, specifiedExclusions } from '../../policy/import/import-exclusions.ts'
import { type Imported, importRows, type LeftOut } from '../../policy/import/import-rows.ts'
import {
  domainModelIn,
  literalDomainMessage,
  mergeImported,
} from '../../policy/import/merged-table.ts'
import { type PolicyFile, parsePolicySet } from '../../policy/set/policy-set.ts'
import { type CasbinRow, readAdapterRows } from '../../stores/policies/casbin-rows.ts'
import { writeImportedTable } from '../../stores/policies/follow/imported-table.ts'
import { readPolicyFiles } from '../../stores/policies/policy-files.ts'
import type { Context } from '../context.ts'
import { decline } from '../declined.ts'
import { InvalidInput } from '../invalid-input.ts'
import type { InputOf, RunOf } from '../operation.ts'
import { policySettings } from '../policy-settings.ts'
import { createPolicyDirectory } from './directory.ts'
import type { policyImport } from './go-admin-descriptions.ts'
import { withGoAdminTable } from './go-admin-table.ts'

/** Imports a policy from a go-admin database or from casbin-redis-adapter. `shown`: the rows have a domain. */
export const run: RunOf<typeof policyImport, boolean> = async (input, context) => {
  const { dir: directory, table, update, 'all-exclusions': allExclusions } = input
  const isDatabase = input.source === 'database'
  checkInput(input)
  const rows = isDatabase
    ? await withGoAdminTable(table, context, (watched) => watched.rows())
    : await readAdapterRows(
        policySettings(context.configFile, context).redis(),
        input.key ?? 'policies',
      )
  if (rows.length === 0) return decline('the source has no rows: nothing was written')
  const existing = update
    ? await readPolicyFiles(resolve(context.cwd, directory), directory)
    : undefined
  const imported = importRows(rows, { anyModel: !isDatabase, model: domainModelIn(existing ?? []) })
  const list = isDatabase ? goAdminExclusions(allExclusions) : specifiedExclusions()
  const { leftOut, narrowed, literalDomains, taken, hasDomain } = imported
  const warnings = [
    ...narrowed.map(narrowedMessage),
    ...literalDomains.map(({ place }) => `${place}: ${literalDomainMessage}`),
    ...(update ? [] : list.warnings),
  ]
  // At once: the reader of a failure below should know them too.
  const remarks = [...leftOut.map(skippedMessage), ...warnings.map((text) => `warning: ${text}`)]
  context.err(remarks.map((text) => `${printable(text)}\n`).join(''))
  if (leftOut.some(({ denies }) => denies)) {
    // Importing only the allow rows would grant access that a deny row takes away.
    throw new Invalid([{ file: directory, message: 'not written: a deny row cannot be imported' }])
  }
  const target = { directory, existing, exclusions: list.text }
  const { revision, ...changes } = await write(imported, target, context)
  const isSame = [leftOut, narrowed, literalDomains].every(({ length }) => length === 0)
  return {
    document: { revision, directory, rows: rows.length, taken, ...changes, leftOut, warnings },
    shown: hasDomain,
    outcome: isSame ? 'done' : 'no',
  }
}

function checkInput(input: InputOf<typeof policyImport.input>): void {
  const { source, table, key, update, 'all-exclusions': all } = input
  const isDatabase = source === 'database'
  const unfit = [
    isDatabase && key !== undefined && '--key requires the source redis',
    !isDatabase && table !== undefined && '--table requires the source database',
    !isDatabase && all && '--all-exclusions requires the source database',
    update && all && '--all-exclusions and --update cannot be combined: exclusions are kept',
  ].find((problem) => problem !== false)
  if (unfit) throw new InvalidInput(undefined, unfit)
}

function skippedMessage({ row, reason }: LeftOut): string {
  return `${row.place}: skipped: ${reason} (${[row.ptype, ...row.values].join(', ')})`
}

function narrowedMessage({ place, values }: CasbinRow): string {
  return `${place}: denies less than before: Casbin reads ${JSON.stringify(values[1])} as a regular expression, Postern as literal text`
}

/** What was read, and where it goes. */
interface Target {
  readonly directory: string
  /** Of a directory that gets the rules; `undefined`: it is made. */
  readonly existing: readonly PolicyFile[] | undefined
  /** For a new directory. */
  readonly exclusions: string
}

/** Writes a directory, or the rules of one. Throws `Invalid`, and writes nothing, if it is not valid with them. */
async function write(imported: Imported, target: Target, { cwd }: Context) {
  const { model, table } = imported
  const { directory, existing, exclusions } = target
  const { files, ...changes } =
    existing === undefined
      ? { files: [model, table, { name: 'exclusions.yaml', text: exclusions }] }
      : mergeImported(existing, imported)
  // A cycle of g rows, for example, shows only in the complete set.
  const { revision } = parsePolicySet(files)
  if (existing === undefined) await createPolicyDirectory(directory, cwd, files)
  else await writeImportedTable(resolve(cwd, directory), table.text, directory)
  return { revision, ...changes }
}
