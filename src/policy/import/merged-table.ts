import { Invalid } from '../../kernel/errors.ts'
import { hasDomain, type Model } from '../model/model.ts'
import { parseModel } from '../model/parse-model.ts'
import type { PolicyFile } from '../set/policy-set.ts'
import { type Imported, importRows } from './import-rows.ts'

/** The file that holds what was imported. Every other file of the directory belongs to its operator. */
const importedFile = 'policy.csv'
const modelFile = 'model.conf'

/**
 * Replaces `policy.csv` among the files of a directory. Model, exclusions and other tables stay: they
 * are decisions of the operator, which the other product does not know.
 */
export function mergeImported(files: readonly PolicyFile[], imported: Imported) {
  checkDomains(files, imported)
  const { table } = imported
  const isImported = ({ name }: PolicyFile) => nameOf(name) === importedFile
  const before = files.find(isImported)
  const merged = { name: before?.name ?? table.name, text: table.text }
  const [old, fresh] = [linesOf(before?.text ?? ''), linesOf(table.text)]
  return {
    files: [...files.filter((file) => !isImported(file)), merged].toSorted((a, b) =>
      a.name < b.name ? -1 : 1,
    ),
    /** Lines of rules that the directory did not have, and that it no longer has. */
    added: [...fresh].filter((line) => !old.has(line)).length,
    removed: [...old].filter((line) => !fresh.has(line)).length,
    /** Other tables of the directory, whose rules stay. */
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
export function importWhole(
  rows: Parameters<typeof importRows>[0],
  table: string,
  model?: Model,
): Imported {
  if (rows.length === 0) throw new Invalid([{ file: table, message: 'has no rows' }])
  const imported = importRows(rows, { anyModel: false, model })
  const problems = [
    ...imported.leftOut.map(({ row, reason }) => ({
      file: row.place,
      message: `cannot be imported: ${reason} (${[row.ptype, ...row.values].join(', ')})`,
    })),
    ...imported.narrowed.map(({ place }) => ({
      file: place,
      message: 'would deny less than before',
    })),
    ...imported.literalDomains.map(({ place }) => ({ file: place, message: literalDomainMessage })),
  ]
  if (problems.length > 0) throw new Invalid(problems)
  return imported
}

/** Why a row for the domain `*` may not mean what it meant. */
export const literalDomainMessage =
  'the domain "*" counts only for requests whose domain is "*": if it was meant for every domain, write (r.dom == p.dom || p.dom == "*") in the matcher of model.conf'

/**
 * The model of a policy directory by which rows with a domain are read; `undefined` if it has no domain.
 * Without one, go-admin's own model says which rows count.
 */
export function domainModelIn(files: readonly PolicyFile[]): Model | undefined {
  const model = modelIn(files)
  return model?.domain === undefined ? undefined : model
}

function modelIn(files: readonly PolicyFile[]): Model | undefined {
  const file = files.find(({ name }) => nameOf(name) === modelFile)
  return file && parseModel(file, () => {})
}

/** The operator chooses the model, which says what a domain means, and where it is compared. */
function checkDomains(files: readonly PolicyFile[], { hasDomain: isGiven }: Imported): void {
  const model = modelIn(files)
  if (model === undefined || hasDomain(model) === isGiven) return
  const message = isGiven
    ? 'the rows have a domain, but the model has none: write "r = sub, dom, obj, act" and compare r.dom with p.dom, or import into a new directory to get such a model'
    : 'the model has a domain, but the rows have none'
  throw new Invalid([{ file: modelFile, message }])
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

function linesOf(text: string): ReadonlySet<string> {
  const lines = text.split(/\r?\n/).map((line) => line.trim())
  return new Set(lines.filter((line) => line !== '' && !line.startsWith('#')))
}
