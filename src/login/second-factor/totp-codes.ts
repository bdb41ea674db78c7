import { randomBytes } from 'node:crypto'

/** RFC 4226 recommends 160 bits, and authenticator apps expect SHA-1, six digits and 30 seconds. */
const secretBytes = 20
const periodSeconds = 30
const shape = { algorithm: 'SHA1', digits: 6, period: periodSeconds } as const
/** Steps before and after the current one: clocks differ, and people type slowly (RFC 6238 5.2). */
const window = 1

export function newTotpSecret(): Uint8Array {
  return randomBytes(secretBytes)
}

/**
 * The time step that this code belongs to, or `undefined` for a wrong one. The library throws on
 * anything but text of plain digits, so the caller checks that first.
 */
export async function matchingStep(
  secret: Uint8Array,
  code: string,
  nowMs: number,
): Promise<number | undefined> {
  const { TOTP } = await otpauth()
  const totp = new TOTP({ ...shape, secret: await secretOf(secret) })
  const difference = totp.validate({ token: code, timestamp: nowMs, window })
  if (difference === null) return undefined
  return Math.floor(nowMs / 1000 / periodSeconds) + difference
}

/** What an authenticator app reads: a QR code shows `uri`, a person types `text`. */
export async function totpInvitation(
  secret: Uint8Array,
  { issuer, username }: { readonly issuer: string; readonly username: string },
): Promise<{ readonly uri: string; readonly text: string }> {
  const { TOTP } = await otpauth()
  const shared = await secretOf(secret)
  const totp = new TOTP({ ...shape, issuer, label: username, secret: shared })
  return { uri: totp.toString(), text: shared.base32.replace(/.{4}(?=.)/g, '$& ') }
}

async function secretOf(bytes: Uint8Array) {
  const { Secret } = await otpauth()
  // A copy: the memory of a Buffer can be that of others too.
  return new Secret({ buffer: new Uint8Array(bytes).buffer })
}

/** Loaded with the first code: most gateways check none. */
function otpauth() {
  return import('otpauth')
}
