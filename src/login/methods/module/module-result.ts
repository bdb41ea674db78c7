import { isRecord } from '../../../kernel/json.ts'
import { didYouMean } from '../../../kernel/suggest.ts'
import type { LoginResult } from './contract.ts'

/** The longest text of each member, in bytes. */
const members = { username: 128, subject: 255, role: 128, displayName: 255, email: 255 } as const

/** A module returned something that says neither who logs in nor that the credentials are wrong. */
class Nonsense extends Error {}

/**
 * Reads the result of a module, of which nothing is known but that it was copied between threads.
 * Nothing that is merely truthy logs a user in.
 */
export function readResult(value: unknown): LoginResult {
  if (value === undefined || value === 'otp-needed') return value
  if (!isRecord(value)) {
    const kind = value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`
    throw new Nonsense(
      `returned ${kind}; return { username }, { subject, username }, 'otp-needed', or undefined for wrong credentials`,
    )
  }
  const { claims, ...said } = value
  if (claims !== undefined && !isRecord(claims))
    throw new Nonsense('returned claims that are not an object')
  const entries = Object.entries(said).filter(([, member]) => member !== undefined)
  for (const [name, member] of entries) {
    if (!Object.hasOwn(members, name)) {
      const hint = didYouMean(name, [...Object.keys(members), 'claims'])
      throw new Nonsense(
        `returned an object with the unknown member ${JSON.stringify(name.slice(0, 64))}${hint}`,
      )
    }
    checkText(name as keyof typeof members, member)
  }
  const { username, subject, ...rest } = Object.fromEntries(entries) as Record<string, string>
  if (username === undefined) throw new Nonsense('returned an object without username')
  if (subject !== undefined) return { username, subject, ...rest, ...(claims && { claims }) }
  const [extra] = Object.keys({ ...rest, ...(claims && { claims }) })
  if (extra !== undefined) {
    throw new Nonsense(`returned ${extra} without subject; only a linked account gets one`)
  }
  return { username }
}

function checkText(name: keyof typeof members, value: unknown): void {
  const maxBytes = members[name]
  if (typeof value !== 'string' || value === '') {
    throw new Nonsense(`returned a ${name} that is not a text, or is empty`)
  }
  if (Buffer.byteLength(value) > maxBytes) {
    throw new Nonsense(`returned a ${name} of more than ${maxBytes} bytes`)
  }
  if (value.includes('\0') || !value.isWellFormed()) {
    throw new Nonsense(`returned a ${name} that is not plain text`)
  }
}
