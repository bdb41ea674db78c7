import { count } from '../../kernel/count.ts'
import { foldedName } from '../../login/folded-name.ts'
import { knownNames } from '../../stores/accounts/known-names.ts'
import type { Database } from '../../stores/database/database.ts'

/** What may be shown of names that clients typed. */
interface MaskedNames {
  /** The name, or `undefined` for one to mask: people type passwords into that field. */
  shown(name: string): string | undefined
  /** One line for the user about what is masked; none when nothing is. */
  readonly note: readonly string[]
}

export const maskedText = '(unknown name)'

/** Masks every name that matches no live account, unless the user asks for them. */
export async function maskNames(
  names: readonly string[],
  { 'show-names': showNames }: { readonly 'show-names': boolean },
  database: Database,
): Promise<MaskedNames> {
  if (showNames) return { shown: (name) => name, note: [] }
  const distinct = [...new Set(names)]
  const known = new Set((await knownNames(database, distinct)).map(foldedName))
  const isKnown = (name: string) => name === '' || known.has(foldedName(name))
  const masked = distinct.filter((name) => !isKnown(name)).length
  return {
    shown: (name) => (isKnown(name) ? name : undefined),
    note:
      masked === 0
        ? []
        : [
            `masked ${count(masked, 'name')} that ${masked === 1 ? 'matches' : 'match'} no account; --show-names shows them, and they may be passwords`,
          ],
  }
}
