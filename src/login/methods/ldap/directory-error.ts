/** A directory, or one of its servers, cannot answer. Becomes a Fault when no other server can. */
export class DirectoryError extends Error {
  constructor(reason: string, cause?: unknown) {
    super(reason, cause === undefined ? {} : { cause })
    this.name = 'DirectoryError'
  }
}

/**
 * Result codes of a bind (RFC 4511 A.1) that say no to these credentials: constraintViolation, which
 * 389 Directory Server sends after too many guesses, inappropriateAuthentication, invalidCredentials,
 * and unwillingToPerform, which it sends for a disabled entry. Any other code says nothing about a
 * password, and must not look like a wrong one.
 */
const refusals: ReadonlySet<number> = new Set([19, 48, 49, 53])
const referral = 10
const noSuchObject = 32

export function isRefusedBind(error: unknown): boolean {
  const code = resultCode(error)
  return code !== undefined && refusals.has(code)
}

export function isNoSuchObject(error: unknown): boolean {
  return resultCode(error) === noSuchObject
}

/** What Active Directory says in the text of a refused bind, `… data 775, …`, other than wrong credentials. */
const accountStates: Readonly<Record<string, string>> = {
  530: 'not permitted to log on at this time',
  532: 'password expired',
  533: 'account disabled',
  701: 'account expired',
  773: 'password must be changed first',
  775: 'account locked out',
}

/** Why a bind was refused, for operators only: some of it is said after the right password alone. */
export function accountStateOf(error: unknown): string | undefined {
  const data = error instanceof Error ? /, data ([0-9a-f]+),/.exec(error.message)?.[1] : undefined
  return data === undefined ? undefined : accountStates[data]
}

/** What went wrong, for the log. ldapts puts no password and no filter into its messages. */
export function reasonOf(error: unknown): string {
  if (resultCode(error) === referral) return 'the server refers to another one; not followed'
  if (!(error instanceof Error)) return 'unknown error'
  const { message } = error
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  const text = message === '' ? (code ?? error.name) : message
  // Without what differs from one login to the next: a reason is logged once, until it changes.
  return text
    .replace(/ within \d+ ms/, ' in time')
    .replace(/\s+/g, ' ')
    .slice(0, 300)
}

/** By its shape: importing the classes would load the library at start. */
function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'number' ? error.code : undefined
}
