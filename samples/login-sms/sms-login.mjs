/** @import { LoginFields, VerifyCredentials } from 'postern/login' */

/*
 * Logs users in with a code that an SMS service sends to their phone. The first request of a login has
 * only a phone number: it makes the service send a code. The second one has the code too.
 */

const service = process.env['SMS_SERVICE_URL'] ?? 'http://127.0.0.1:8025'

/** What a login sends as `provider`. */
export const name = 'sms'

/** @satisfies {LoginFields} */
export const fields = {
  phone: { maxBytes: 24 },
  smsCode: { maxBytes: 6, optional: true },
}

/** @type {VerifyCredentials<'phone', 'smsCode'>} */
export async function verifyCredentials({ phone, smsCode }, { signal }) {
  const number = phone.replaceAll(/[ ()./-]/g, '')
  if (!/^\+[1-9][0-9]{6,14}$/.test(number)) return undefined

  if (smsCode === undefined) {
    await post('/send', { phone: number }, signal)
    // Also for a number that no user has: the answer must not tell which numbers are known.
    return 'otp-needed'
  }
  const { user } = await post('/verify', { phone: number, code: smsCode }, signal)
  if (user === undefined) return undefined
  return { subject: user.id, username: user.name, role: user.role }
}

/**
 * Throws unless the service answers 200: Postern then answers 503, and the attempt does not count as a
 * wrong code.
 *
 * @param {string} path
 * @param {Readonly<Record<string, string>>} body
 * @param {AbortSignal} signal
 * @returns {Promise<{ user?: { id: string, name: string, role: string } }>}
 */
async function post(path, body, signal) {
  const response = await fetch(new URL(path, service), {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Authorization: `Bearer ${process.env['SMS_SERVICE_KEY'] ?? ''}`,
    },
    body: JSON.stringify(body),
    signal,
  })
  if (!response.ok) throw new Error(`the SMS service answered ${response.status} to ${path}`)
  return /** @type {any} */ (await response.json())
}
