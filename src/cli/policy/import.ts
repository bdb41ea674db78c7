import { resolve } from 'node:path'
import { Invalid } from '../../kernel/errors.ts'
import { decline } from '../../operations/declined.ts'
import { createPolicyDirectory } from '../../operations/policy/directory.ts'
import { withGoAdminTable } from '../../operations/policy/go-admin-table.ts'
import { policySettings } from '../../operations/policy-settings.ts'
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
import { type Run, UsageError } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { count, json, printable } from '../format.ts'
import type { Io } from '../io.ts'
import type { importSpec } from './specs.ts'

/** Imports a policy from a go-admin database or from casbin-redis-adapter. */
export const policyImport: Run<typeof importSpec> = async (call, io) => {
  const {
    options,
    arguments: [from, directory],
  } = call
  const { table, key, config, update, 'all-exclusions': allExclusions } = options
  const isDatabase = from === 'database'
  const isRedis = !isDatabase
  if (isDatabase && key !== undefined) throw new UsageError('--key requires the source redis')
  if (isRedis && table !== undefined) throw new UsageError('--table requires the source database')
  if (isRedis && allExclusions) {
    throw new UsageError('--all-exclusions requires the source database')
  }
  if (update && allExclusions) {
    throw new UsageError('--all-exclusions and --update cannot be combined: exclusions are kept')
  }

  const rows = isDatabase
    ? await withGoAdminTable({ table, config }, io, (watched) => watched.rows())
    : await readAdapterRows(policySettings(config, io).redis(), key ?? 'policies')
  if (rows.length === 0) return decline('the source has no rows: nothing was written')
  const existing = update ? await existingFiles(directory, io) : []
  const imported = importRows(rows, { anyModel: isRedis, model: domainModelIn(existing) })
  const list = isDatabase ? goAdminExclusions(allExclusions) : specifiedExclusions()
  const listWarnings = update ? [] : list.warnings
  const { leftOut } = imported
  const warnings = [
    ...imported.narrowed.map(narrowedMessage),
    ...imported.literalDomains.map(({ place }) => `${place}: ${literalDomainMessage}`),
    ...listWarnings,
  ]
  const shown = warnings.map((text) => `warning: ${printable(text)}\n`)
  io.err(formatSkipped(leftOut) + shown.join(''))
  if (leftOut.some(({ denies }) => denies)) {
    // Importing only the allow rows would grant access that a deny row takes away.
    throw new Invalid([{ file: directory, message: 'not written: a deny row cannot be imported' }])
  }
  const { revision, ...changes } = update
    ? await updateImported(directory, { imported, existing }, io)
    : await writeImported(directory, imported, list.text, io)

  const facts = { revision, directory, rows: rows.length, taken: imported.taken, ...changes }
  if (options.output === 'json') io.out(json({ ...facts, leftOut, warnings }))
  else {
    const taken = `imported ${imported.taken} of ${count(rows.length, 'row')}`
    io.out(`${directory}: ${revision}, ${taken}${changesInWords(changes)}\n`)
    if (imported.hasDomain && !update) io.err(domainNote)
  }
  const isSame = imported.narrowed.length === 0 && imported.literalDomains.length === 0
  return leftOut.length === 0 && isSame ? exitCodes.done : exitCodes.no
}

const domainNote =
  'note: the rows have a domain: compare model.conf with the model of the other product, and set policy.domain to where a request has its domain\n'

async function existingFiles(directory: string, io: Io): Promise<readonly PolicyFile[]> {
  return readPolicyFiles(resolve(io.cwd, directory), directory)
}

function narrowedMessage({ place, values }: CasbinRow): string {
  return `${place}: denies less than before: Casbin reads ${JSON.stringify(values[1])} as a regular expression, Postern as literal text`
}

async function writeImported(
  directory: string,
  { model, table }: Imported,
  exclusions: string,
  io: Io,
): Promise<Written> {
  const files = [model, table, { name: 'exclusions.yaml', text: exclusions }]
  // A cycle of g rows, for example, shows only in the complete set.
  const { revision } = parsePolicySet(files)
  await createPolicyDirectory(directory, io.cwd, files)
  return { revision }
}

/** The revision of the directory; of one that existed, also what changed in it. */
interface Written {
  readonly revision: string
  readonly added?: number
  readonly removed?: number
  readonly keptTables?: readonly string[]
}

/** Replaces the rules of a directory that is valid with them, and writes nothing otherwise. */
async function updateImported(
  directory: string,
  { imported, existing }: { readonly imported: Imported; readonly existing: readonly PolicyFile[] },
  io: Io,
): Promise<Written> {
  const { files, ...changes } = mergeImported(existing, imported)
  const { revision } = parsePolicySet(files)
  await writeImportedTable(resolve(io.cwd, directory), imported.table.text, directory)
  return { revision, ...changes }
}

function changesInWords({ added, removed, keptTables = [] }: Omit<Written, 'revision'>): string {
  if (added === undefined || removed === undefined) return ''
  const kept = keptTables.length === 0 ? '' : `; kept the rules in ${keptTables.join(', ')}`
  return printable(`: ${count(added, 'line')} added, ${removed} removed${kept}`)
}

function formatSkipped(leftOut: readonly LeftOut[]): string {
  return leftOut
    .map(({ row, reason }) => {
      const text = [row.ptype, ...row.values].join(', ')
      return `${printable(`${row.place}: skipped: ${reason} (${text})`)}\n`
    })
    .join('')
}
