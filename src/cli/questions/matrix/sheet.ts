import type { DocumentOf } from '../../../operations/operation.ts'
import type { policyMatrix } from '../../../operations/policy/descriptions.ts'
import type { CellWord } from '../../../operations/policy/matrix-cells.ts'

type Document = DocumentOf<typeof policyMatrix>
type MatrixOperation = Document['operations'][number]

/** A matrix, and the policy in words. */
export interface Sheet extends Pick<Document, 'roles' | 'operations' | 'notes'> {
  readonly policy: string
}

/** The cells of an operation, one for each role of the sheet. */
export function cellsOf({ cells }: MatrixOperation, { roles }: Sheet): CellWord[] {
  const words = cells as Readonly<Record<string, CellWord>>
  return roles.map(
    (roleKey) => (Object.hasOwn(words, roleKey) ? words[roleKey] : undefined) ?? 'no',
  )
}

/** What callers need, and whether the gateway itself responds, for a column of its own. */
export function accessWords({ access, isFixedResponse }: MatrixOperation): readonly string[] {
  return isFixedResponse ? [...access, 'fixed response'] : access
}

/** How a cell looks in text and on a page, where the mark does not depend on color, and what it means. */
interface CellForm {
  readonly text: string
  readonly mark: string
  readonly name: string
  readonly meaning: string
}

const form = (text: string, mark: string, name: string, meaning: string): CellForm => {
  return { text, mark, name, meaning }
}

/** In the order of a legend. */
export const cellForms: Readonly<Record<CellWord, CellForm>> = {
  allowed: form('yes', '✓', 'o', 'a rule of the role allows all calls'),
  inherited: form('inh', '↑', 'i', 'a rule of a role that it inherits from allows all calls'),
  everyone: form(
    ...(['all', '∗', 'e'] as const),
    'all calls need no permission: open route, exclusion or endpoint of the gateway',
  ),
  superuser: form('sup', '★', 's', 'the matcher in model.conf allows the role every call'),
  admin: form('adm', '★', 's', 'admin needs no rule'),
  partly: form('part', '◐', 'p', 'some of the calls, by rules'),
  'partly inherited': form('part', '◐↑', 'p', 'some of the calls, by inherited rules'),
  'partly everyone': form(
    ...(['part', '◐∗', 'p'] as const),
    'some of the calls, because these need no permission',
  ),
  denied: form('deny', '✗', 'd', 'a deny rule outweighs the rules that allow'),
  no: form('-', '', '', 'no rule allows any of the calls'),
}

export const legend = Object.entries(cellForms) as readonly [CellWord, CellForm][]
