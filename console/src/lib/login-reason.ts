/**
 * Why a login with an identity provider failed, by what the console added to the address. `undefined`:
 * it did not. Anyone can write an address, so a kind that is not known gets the general line.
 */
export function loginReason(
  search: string,
  texts: { readonly providerFailed: string; readonly reasons: Readonly<Record<string, string>> },
): string | undefined {
  const kind = new URLSearchParams(search).get('error')
  if (kind === null) return undefined
  const known = Object.hasOwn(texts.reasons, kind) ? texts.reasons[kind] : undefined
  return known ?? texts.providerFailed
}
