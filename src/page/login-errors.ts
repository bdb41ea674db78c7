import { Fault, type FaultPart, Refusal, type RefusalKind } from '../kernel/errors.ts'

/** What a login at an identity provider can end with. The page repeats no other error to people. */
const refusals: readonly RefusalKind[] = [
  'no-such-provider',
  'login-expired',
  'provider-refused',
  'no-account',
  'account-disabled',
  'no-role',
  'bad-login-request',
  'too-many-requests',
]
const faults: readonly FaultPart[] = ['identity-provider', 'database', 'redis', 'keys']

/** The name of an error in the address of the page; `undefined` for one that the page cannot show. */
export function nameOfError(error: unknown): string | undefined {
  if (error instanceof Refusal) return refusals.find((kind) => kind === error.kind)
  if (error instanceof Fault) return faults.find((part) => part === error.part)
  return undefined
}

/** The error of a name, which anyone can write into an address. */
export function errorOfName(name: string | undefined): Refusal | Fault | undefined {
  // The text of the page for it is about the form, which was not used.
  if (name === 'bad-login-request') return new Refusal('login-expired')
  const kind = refusals.find((each) => each === name)
  if (kind !== undefined) return new Refusal(kind)
  const part = faults.find((each) => each === name)
  return part && new Fault(part)
}
