import { createHmac } from 'node:crypto'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** The code that an authenticator app shows (RFC 6238), computed without the library under test. */
export function totpCode(secret: Uint8Array | string, atMs: number): string {
  const key = typeof secret === 'string' ? base32Bytes(secret) : secret
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(atMs / 30_000)))
  const digest = createHmac('sha1', key).update(counter).digest()
  const at = (digest.at(-1) ?? 0) & 15
  return String((digest.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}

/** A code that is right neither now nor in the minutes around. */
export function wrongCode(secret: Uint8Array | string, atMs: number): string {
  const right = new Set([-3, -2, -1, 0, 1, 2, 3].map((at) => totpCode(secret, atMs + at * 30_000)))
  for (let code = 0; ; code++) {
    const text = String(code).padStart(6, '0')
    if (!right.has(text)) return text
  }
}

function base32Bytes(text: string): Buffer {
  const bits = [...text.replaceAll(' ', '')]
    .map((character) => alphabet.indexOf(character).toString(2).padStart(5, '0'))
    .join('')
  return Buffer.from(bits.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? [])
}
