import { parseStatement } from '../../../signing/statement.ts'
import { signersOf, type Trust } from '../../../signing/trust.ts'
import type { Move } from '../document/policy-keys.ts'

/**
 * Adds whose signatures are good. They count only for what was signed: the revision, author and
 * message of the statement, so that a signature copied to another move proves nothing there.
 */
export function historyEntry(move: Move, trust: Trust | undefined) {
  const statement = move.signed && parseStatement(move.signed.statement)
  if (trust === undefined || move.signed === undefined || statement === undefined) {
    return { ...move, signers: [] }
  }
  const isSame = (['revision', 'author', 'message'] as const).every(
    (name) => statement[name] === move[name],
  )
  const { trusted } = signersOf(move.signed, 'live', trust)
  const signers = isSame && statement.purpose === 'live' ? trusted.map(({ name }) => name) : []
  return { ...move, signers }
}
