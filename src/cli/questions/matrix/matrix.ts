import type { Operation } from '../../../answers/call-cases.ts'
import { type Matrix, matrix, matrixSize } from '../../../answers/matrix.ts'
import type { Run } from '../../command.ts'
import { decline } from '../../declined.ts'
import { exitCodes } from '../../exit-codes.ts'
import { count, json } from '../../format.ts'
import { type AskedPolicy, askedPolicy, policyName } from '../asked-policy.ts'
import { inexact, printNotes } from '../notes.ts'
import { untilNote } from '../rule-line.ts'
import type { matrixSpec } from '../specs.ts'
import { formatCsv } from './csv.ts'
import { formatHtml } from './html.ts'
import { formatMarkdown } from './markdown.ts'
import { cellsOf, cellWords, createSheet, type Sheet } from './sheet.ts'
import { formatText } from './text.ts'

/** Shows what each role may do with each operation. */
export const policyMatrix: Run<typeof matrixSpec> = async ({ options }, io) => {
  const asked = await askedPolicy(options, io)
  requireEvaluable(asked)
  const found = matrix(asked)
  const notes = notesOn(found, asked)
  const sheet = createSheet(found, { policy: policyName(asked), notes })
  if (options.output === 'json') io.out(formatJson(sheet, found, asked))
  else io.out(formats[options.output](sheet))
  // The other formats have the notes inside.
  if (options.output === 'text' || options.output === 'csv') printNotes(notes, io)
  return exitCodes.done
}

const formats = {
  text: formatText,
  csv: formatCsv,
  markdown: formatMarkdown,
  html: formatHtml,
} as const

/** Casbin takes about 2 µs for each rule of each decision. */
const mostEvaluations = 5_000_000

function requireEvaluable({ policies }: AskedPolicy): void {
  const { set } = policies
  if (set.model.casbin === undefined) return
  const { roles, operations } = matrixSize(set)
  if (roles * operations * set.rules.length <= mostEvaluations) return
  decline(
    `Casbin evaluates this model, and ${count(roles, 'role')} times ${count(operations, 'operation')} with ${count(set.rules.length, 'rule')} would take too long: ask "postern policy who" about single calls, or use a model that the index answers ("postern policy check" says why it does not)`,
  )
}

function notesOn({ operations, unserved, unasked }: Matrix, asked: AskedPolicy): readonly string[] {
  const isCasbin = asked.policies.set.model.casbin !== undefined
  const sampled = operations.filter(({ isExact }) => !isExact)
  return [
    ...asked.notes,
    ...expiringNote(asked),
    ...(isCasbin ? inexact(asked) : about(sampled, 'examined on some of its paths only')),
    ...about(unserved, 'left out, because no route serves it'),
    ...about(unasked, 'left out, because its path is an expression'),
  ]
}

/** Cells do not say how long they hold. */
function expiringNote({ policies: { ends }, at }: AskedPolicy): readonly string[] {
  const next = ends.find((end) => at < end)
  return next === undefined
    ? []
    : [`this holds ${untilNote(next)}, when a line of the policy expires`]
}

/** A note that names the first of some operations. */
function about(some: readonly Operation[], what: string): readonly string[] {
  const [first] = some
  if (first === undefined) return []
  return [
    `${what}: ${first.method} ${first.path}${some.length === 1 ? '' : ` and ${count(some.length - 1, 'other operation')}`}`,
  ]
}

/** Without cells of roles that may do nothing, which are most of them. */
function formatJson(
  { roles, operations, notes }: Sheet,
  found: Matrix,
  asked: AskedPolicy,
): string {
  return json({
    policy: asked.name,
    revision: asked.policies.revision,
    roles,
    operations: operations.map((operation) => {
      const { method, path, access, servedBy, isExact } = operation
      const cells = cellsOf(operation).map((kind, at) => [roles[at], cellWords[kind]] as const)
      const allowed = Object.fromEntries(cells.filter(([, word]) => word !== cellWords.none))
      return { method, path, access, servedBy, isExact, cells: allowed }
    }),
    unserved: found.unserved,
    unasked: found.unasked,
    notes,
  })
}
