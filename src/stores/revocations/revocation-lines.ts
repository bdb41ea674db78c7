import { crc32 } from 'node:zlib'
import { readJson } from '../../kernel/json.ts'
import type { Revocation } from '../../token/revocations.ts'
import { fromRow, toRow } from './revocation-store.ts'

/**
 * A file of revocations is a list of lines, each with its own checksum, so that adding one does not
 * rewrite the rest. A line is a revocation, or the time at which the store had none besides those
 * above it. Of a file that is cut short or damaged, only the confirmations before the damage count:
 * the list is older then, and never wrong about its age.
 */
export type RevocationLines = ReturnType<typeof parseRevocationLines>

export function revocationLine(revocation: Revocation): string {
  const { name, userId, moment, until } = toRow(revocation)
  return line([name, userId, moment, until])
}

export function confirmationLine(confirmedAt: number): string {
  return line({ confirmedAt })
}

export function parseRevocationLines(text: string) {
  const revocations: Revocation[] = []
  /** Wall-clock time; `undefined` if the file has no confirmation. */
  let confirmedAt: number | undefined
  // Unreadable lines. A last line without its end does not count: a crash may cut it.
  let damaged = 0
  for (const one of linesOf(text)) {
    const value = readLine(one)
    const revocation = Array.isArray(value) ? revocationOf(value) : undefined
    const time = confirmationOf(value)
    if (revocation !== undefined) revocations.push(revocation)
    else if (time === undefined) damaged++
    else if (damaged === 0) confirmedAt = time
  }
  return { revocations, confirmedAt, damaged }
}

/** One after the other: a damaged file can have so many that an array of them does not fit. */
function* linesOf(text: string): Generator<string> {
  let start = 0
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
    yield text.slice(start, end)
    start = end + 1
  }
}

function line(value: object): string {
  const body = JSON.stringify(value)
  return `${checksumOf(body)} ${body}\n`
}

function checksumOf(body: string): string {
  return crc32(body).toString(16).padStart(8, '0')
}

function readLine(one: string): unknown {
  if (one.length < 10) return undefined
  const body = one.slice(9)
  return one.slice(0, 9) === `${checksumOf(body)} ` ? readJson(body) : undefined
}

function revocationOf([name, userId, moment, until]: readonly unknown[]): Revocation | undefined {
  if (typeof name !== 'string' || typeof userId !== 'string') return undefined
  return fromRow({ name, userId, moment: Number(moment), until: Number(until) })
}

function confirmationOf(value: unknown): number | undefined {
  const { confirmedAt } = (value ?? {}) as { confirmedAt?: unknown }
  return Number.isSafeInteger(confirmedAt) ? (confirmedAt as number) : undefined
}
