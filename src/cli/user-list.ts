import type { AccountSummary } from '../stores/account-changes.ts'

/** The accounts as a table for people, or as one JSON document. Ids are text: they are exact. */
export function formatAccounts(
  accounts: readonly AccountSummary[],
  output: 'text' | 'json',
): string {
  if (output === 'json') return `${JSON.stringify(accounts)}\n`

  const rows = accounts.map(({ userId, username, roleKey, enabled }) =>
    [userId, username, roleKey, enabled ? 'enabled' : 'disabled'].map(printable),
  )
  const table = [['ID', 'NAME', 'ROLE', 'STATUS'], ...rows]
  const widths = [0, 1, 2, 3].map((at) => Math.max(...table.map((row) => row[at]?.length ?? 0)))
  return table
    .map(
      (row) =>
        `${row
          .map((cell, at) => cell.padEnd(widths[at] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}

/** A name can hold a terminal's escape sequences; shown, they must not be obeyed. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    return `\\u{${character.codePointAt(0)?.toString(16)}}`
  })
}
