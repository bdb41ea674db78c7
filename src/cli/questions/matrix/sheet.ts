import {
  type CellKind,
  cellKinds,
  type Matrix,
  type MatrixOperation,
} from '../../../answers/matrix.ts'

/** A matrix with what its formats have in common. */
export interface Sheet {
  /** The policy and its revision. */
  readonly policy: string
  /** `admin` and the roles of the policy. */
  readonly roles: readonly string[]
  readonly operations: readonly MatrixOperation[]
  /** What the reader must know, a line each. */
  readonly notes: readonly string[]
}

/** `admin` may make every call that the gateway does not refuse, and needs no rule. */
export type SheetCell = CellKind | 'admin'

export function createSheet(
  { roles, operations }: Matrix,
  about: Pick<Sheet, 'policy' | 'notes'>,
): Sheet {
  return { ...about, roles: ['admin', ...roles], operations }
}

/** The cells of an operation, one for each role of the sheet. */
export function cellsOf({ cells, access }: MatrixOperation): SheetCell[] {
  return [firstCell(access), ...Array.from(cells, (number) => cellKinds[number] ?? 'none')]
}

/** The cell of `admin`. */
export function firstCell(access: MatrixOperation['access']): SheetCell {
  return access.includes('permitted') ? 'admin' : 'everyone'
}

/** What callers need, and whether the gateway itself responds, for a column of its own. */
export function accessWords({ access, isFixedResponse }: MatrixOperation): readonly string[] {
  return isFixedResponse ? [...access, 'fixed response'] : access
}

/** The word for each cell, for people and programs that read columns. */
export const cellWords: Readonly<Record<SheetCell, string>> = {
  none: 'no',
  own: 'allowed',
  inherited: 'inherited',
  superuser: 'superuser',
  everyone: 'everyone',
  'part-own': 'partly',
  'part-inherited': 'partly inherited',
  'part-everyone': 'partly everyone',
  denied: 'denied',
  admin: 'admin',
}

/** What the words mean, in the order of a legend. */
export const cellMeanings: readonly (readonly [SheetCell, string])[] = [
  ['own', 'a rule of the role allows all calls'],
  ['inherited', 'a rule of a role that it inherits from allows all calls'],
  ['everyone', 'all calls need no permission: open route, exclusion or endpoint of the gateway'],
  ['superuser', 'the matcher in model.conf allows the role every call'],
  ['admin', 'admin needs no rule'],
  ['part-own', 'some of the calls, by rules'],
  ['part-inherited', 'some of the calls, by inherited rules'],
  ['part-everyone', 'some of the calls, because these need no permission'],
  ['denied', 'a deny rule outweighs the rules that allow'],
  ['none', 'no rule allows any of the calls'],
]
