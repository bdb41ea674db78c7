import { count } from '../../kernel/count.ts'
import { foldedName } from '../../login/folded-name.ts'
import { knownNames } from '../../stores/accounts/known-names.ts'
import type { Database } from '../../stores/database/database.ts'

export const maskedText = '(unknown name)'

/** Masks every name that matches no live account, unless the user asks for them. */
export async function maskNames(
  names: readonly string[],
  { 'show-names': showNames }: { readonly 'show-names': boolean },
  database: Database,
) {
  if (showNames) return { shown: (name: string) => name, note: [] }
  const distinct = [...new Set(names)]
  const known = new Set((await knownNames(database, distinct)).map(foldedName))
  const isKnown = (name: string) => name === '' || known.has(foldedName(name))
  const masked = distinct.filter((name) => !isKnown(name)).length
  return {
    /** The name, or `undefined` for one to mask: people type passwords into that field. */
    shown: (name: string) => (isKnown(name) ? name : undefined),
    /** One line for the user about what is masked; none when nothing is. */
    note:
      masked === 0
        ? []
        : [
            `masked ${count(masked, 'name')} that ${masked === 1 ? 'matches' : 'match'} no account; --show-names shows them, and they may be passwords`,
          ],
  }
}
