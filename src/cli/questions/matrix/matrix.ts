import type { Operation } from '../../../answers/call-cases.ts'
import { type Matrix, type MatrixOperation, matrix, matrixSize } from '../../../answers/matrix.ts'
import { decline } from '../../../operations/declined.ts'
import {
  type AskedPolicy,
  askedPolicy,
  policyName,
} from '../../../operations/policy/asked-policy.ts'
import { readDocumented } from '../../../operations/policy/documented.ts'
import { inexact } from '../../../operations/policy/inexact.ts'
import { untilNote } from '../../../operations/policy/rule-line.ts'
import { type Run, UsageError } from '../../command.ts'
import { exitCodes } from '../../exit-codes.ts'
import { count, json } from '../../format.ts'
import { printNotes } from '../notes.ts'
import type { matrixSpec } from '../specs.ts'
import { formatSheet } from './csv.ts'
import { formatHtml } from './html.ts'
import { letterMeanings, lettersOf } from './letters.ts'
import { formatMarkdown } from './markdown.ts'
import { cellsOf, cellWords, createSheet } from './sheet.ts'
import { formatText } from './text.ts'

/** Shows what each role may do with each operation. */
export const policyMatrix: Run<typeof matrixSpec> = async ({ options }, io) => {
  if (options.compact && options.output !== 'json') {
    throw new UsageError('--compact is for --output json')
  }
  const asked = await askedPolicy(options, io)
  const documented = await readDocumented(asked.settings, io)
  requireEvaluable(asked, documented.operations)
  if (options.output === 'json') {
    const answer = () => formatJson(asked, documented, options.compact)
    const { name, whole, settings, domain, at, policies, notes } = asked
    // The same until a line of the policy expires.
    const since = policies.ends.findLast((end) => end <= at)
    const { host, compact } = options
    const about = { name, domain, host, compact, since, notes, documented, access: settings.access }
    io.out(io.shared?.policies.answered(whole, about, answer) ?? answer())
    return exitCodes.done
  }
  const { sheet, notes } = sheetOf(asked, documented)
  io.out(formats[options.output](sheet))
  // The other formats have the notes inside.
  if (options.output === 'text' || options.output === 'csv') printNotes(notes, io)
  return exitCodes.done
}

type Documented = Awaited<ReturnType<typeof readDocumented>>

function sheetOf(asked: AskedPolicy, documented: Documented) {
  const found = matrix(asked, documented.operations)
  const notes = [...notesOn(found, asked), ...documented.notes]
  return { found, notes, sheet: createSheet(found, { policy: policyName(asked), notes }) }
}

const formats = {
  text: formatText,
  csv: formatSheet,
  markdown: formatMarkdown,
  html: formatHtml,
} as const

/** Casbin takes about 2 µs for each rule of each decision. */
const mostEvaluations = 5_000_000

function requireEvaluable({ policies }: AskedPolicy, documented: readonly Operation[]): void {
  const { set } = policies
  if (set.model.casbin === undefined) return
  const { roles, operations } = matrixSize(set, documented)
  if (roles * operations * set.rules.length <= mostEvaluations) return
  decline(
    `Casbin evaluates this model, and ${count(roles, 'role')} times ${count(operations, 'operation')} with ${count(set.rules.length, 'rule')} would take too long: ask "postern policy who" about single calls, or use a model that the index answers ("postern policy check" says why it does not)`,
  )
}

function notesOn(
  { operations, unserved, refused, unasked }: Matrix,
  asked: AskedPolicy,
): readonly string[] {
  const isCasbin = asked.policies.set.model.casbin !== undefined
  const sampled = operations.filter(({ isExact }) => !isExact)
  return [
    ...asked.notes,
    ...expiringNote(asked),
    ...(isCasbin ? inexact(asked) : about(sampled, 'examined on some of its paths only')),
    ...about(unserved, 'left out, because no route serves it'),
    ...about(refused, 'left out, because the gateway refuses it to everyone'),
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

function formatJson(asked: AskedPolicy, documented: Documented, isCompact: boolean): string {
  const { found, notes, sheet } = sheetOf(asked, documented)
  const { roles, operations } = sheet
  return json({
    policy: asked.name,
    revision: asked.policies.revision,
    roles,
    ...(isCompact && { cells: letterMeanings }),
    operations: operations.map((operation) => {
      const { method, path, access, servedBy, isFixedResponse, isExact } = operation
      const cells = isCompact ? lettersOf(operation) : wordsOf(operation, roles)
      return { method, path, access, servedBy, isFixedResponse, isExact, cells }
    }),
    unserved: found.unserved,
    refused: found.refused,
    unasked: found.unasked,
    routesWithoutRule: found.routesWithoutRule,
    notes,
  })
}

/** Without cells of roles that may do nothing, which are most of them. */
function wordsOf(operation: MatrixOperation, roles: readonly string[]) {
  const cells = cellsOf(operation).map((kind, at) => [roles[at], cellWords[kind]] as const)
  return Object.fromEntries(cells.filter(([, word]) => word !== cellWords.none))
}
