import { Invalid } from '../../errors.ts'
import type { PolicyFile } from '../set/policy-set.ts'
import { type Imported, importRows } from './import-rows.ts'

/** The file that holds what was imported. Every other file of the directory belongs to its operator. */
const importedFile = 'policy.csv'

/** A policy directory with the imported rules instead of those that it had. */
interface MergedFiles {
  readonly files: readonly PolicyFile[]
  /** Lines of rules that the directory did not have, and that it no longer has. */
  readonly added: number
  readonly removed: number
  /** Other tables of the directory, whose rules stay. */
  readonly keptTables: readonly string[]
}

/**
 * Replaces `policy.csv` among the files of a directory. Model, exclusions and other tables stay: they
 * are decisions of the operator, which the other product does not know.
 */
export function mergeImported(files: readonly PolicyFile[], { table }: Imported): MergedFiles {
  const isImported = ({ name }: PolicyFile) => nameOf(name) === importedFile
  const before = files.find(isImported)
  const merged = { name: before?.name ?? table.name, text: table.text }
  const [old, fresh] = [linesOf(before?.text ?? ''), linesOf(table.text)]
  return {
    files: [...files.filter((file) => !isImported(file)), merged].toSorted((a, b) =>
      a.name < b.name ? -1 : 1,
    ),
    added: [...fresh].filter((line) => !old.has(line)).length,
    removed: [...old].filter((line) => !fresh.has(line)).length,
    keptTables: files
      .filter((file) => file.name.endsWith('.csv') && !isImported(file))
      .map(({ name }) => name),
  }
}

/**
 * The rows as rules, if every row means here what it means in go-admin. Throws `Invalid` otherwise: a
 * program that publishes without a person looking must not publish half of a table, and an empty table
 * is more often an accident than a wish.
 */
export function importWhole(rows: Parameters<typeof importRows>[0], table: string): Imported {
  if (rows.length === 0) throw new Invalid([{ file: table, message: 'has no rows' }])
  const imported = importRows(rows, { anyModel: false })
  const problems = [
    ...imported.leftOut.map(({ row, reason }) => ({
      file: row.place,
      message: `cannot be imported: ${reason} (${[row.ptype, ...row.values].join(', ')})`,
    })),
    ...imported.narrowed.map(({ place }) => ({
      file: place,
      message: 'would deny less than before',
    })),
  ]
  if (problems.length > 0) throw new Invalid(problems)
  return imported
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

function linesOf(text: string): ReadonlySet<string> {
  const lines = text.split(/\r?\n/).map((line) => line.trim())
  return new Set(lines.filter((line) => line !== '' && !line.startsWith('#')))
}
