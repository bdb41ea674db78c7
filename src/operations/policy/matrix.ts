import type { Operation } from '../../answers/call-cases.ts'
import { type Matrix, type MatrixOperation, matrix, matrixSize } from '../../answers/matrix.ts'
import { count } from '../../kernel/count.ts'
import { decline } from '../declined.ts'
import type { DocumentOf, RunOf } from '../operation.ts'
import type { policyMatrix } from './descriptions.ts'
import { readDocumented } from './documented.ts'
import { cellsOf, cellWords, letterMeanings, lettersOf } from './matrix-cells.ts'
import { findPolicy, inexact, type PolicyQuery, policyName } from './policy-query.ts'
import { untilNote } from './rule-line.ts'

type Document = DocumentOf<typeof policyMatrix>
type Documented = Awaited<ReturnType<typeof readDocumented>>

/** Shows what each role may do with each operation. */
export const run: RunOf<typeof policyMatrix, string> = async (input, context) => {
  const { host, compact } = input
  const query = await findPolicy({ ...input, config: context.configFile }, context)
  const documented = await readDocumented(query.settings, context)
  requireEvaluable(query, documented.operations)
  const answer = () => documentOf(query, documented, compact)
  const { name, whole, settings, domain, at, policies, notes } = query
  // The answer stays the same until a line of the policy expires.
  const since = policies.ends.findLast((end) => end <= at)
  const about = { name, domain, host, since, notes, documented, access: settings.access }
  // With words for cells, it is too large to keep.
  const document = compact
    ? (context.shared?.policies.answered(whole, about, answer, cellsIn) ?? answer())
    : answer()
  return { document, shown: policyName(query) }
}

function cellsIn({ roles, operations }: Document): number {
  return roles.length * operations.length
}

/** Casbin takes about 2 µs for each rule of each decision. */
const mostEvaluations = 5_000_000

function requireEvaluable({ policies }: PolicyQuery, documented: readonly Operation[]): void {
  const { set } = policies
  if (set.model.casbin === undefined) return
  const { roles, operations } = matrixSize(set, documented)
  if (roles * operations * set.rules.length <= mostEvaluations) return
  decline(
    `Casbin evaluates this model, and ${count(roles, 'role')} times ${count(operations, 'operation')} with ${count(set.rules.length, 'rule')} would take too long: ask "postern policy who" about single calls, or use a model that the index answers ("postern policy check" says why it does not)`,
  )
}

function documentOf(query: PolicyQuery, documented: Documented, isCompact: boolean): Document {
  const found = matrix(query, documented.operations)
  const roles = ['admin', ...found.roles]
  const before = { policy: query.name, revision: query.policies.revision, roles }
  const after = {
    ...{ unserved: found.unserved, refused: found.refused, unasked: found.unasked },
    routesWithoutRule: found.routesWithoutRule,
    notes: [...notesOn(found, query), ...documented.notes],
  }
  const operations = <Cells>(cellsIn: (operation: MatrixOperation) => Cells) =>
    found.operations.map((operation) => {
      const { method, path, access, servedBy, isFixedResponse, isExact } = operation
      return { method, path, access, servedBy, isFixedResponse, isExact, cells: cellsIn(operation) }
    })
  return isCompact
    ? { ...before, cells: letterMeanings, operations: operations(lettersOf), ...after }
    : { ...before, operations: operations((each) => wordsOf(each, roles)), ...after }
}

/** Without cells of roles that may do nothing, which are most of them. */
function wordsOf(operation: MatrixOperation, roles: readonly string[]) {
  const cells = cellsOf(operation).map((kind, at) => [roles[at], cellWords[kind]] as const)
  return Object.fromEntries(cells.filter(([, word]) => word !== cellWords.none))
}

function notesOn(
  { operations, unserved, refused, unasked }: Matrix,
  query: PolicyQuery,
): readonly string[] {
  const isCasbin = query.policies.set.model.casbin !== undefined
  const sampled = operations.filter(({ isExact }) => !isExact)
  return [
    ...query.notes,
    ...expiringNote(query),
    ...(isCasbin ? inexact(query) : about(sampled, 'examined on some of its paths only')),
    ...about(unserved, 'left out, because no route serves it'),
    ...about(refused, 'left out, because the gateway refuses it to everyone'),
    ...about(unasked, 'left out, because its path is an expression'),
  ]
}

/** Cells do not say how long they hold. */
function expiringNote({ policies: { ends }, at }: PolicyQuery): readonly string[] {
  const next = ends.find((end) => at < end)
  if (next === undefined) return []
  return [`this holds ${untilNote(next)}, when a line of the policy expires`]
}

/** A note that names the first of some operations. */
function about(some: readonly Operation[], what: string): readonly string[] {
  const [first] = some
  if (first === undefined) return []
  const more = some.length === 1 ? '' : ` and ${count(some.length - 1, 'other operation')}`
  return [`${what}: ${first.method} ${first.path}${more}`]
}
