/** Spellings that a database may treat as one name share one count, and are known or unknown alike. */
export function foldedName(username: string): string {
  return username.normalize('NFKC').trimEnd().toLowerCase()
}
