import { hash } from 'node:crypto'
import { createLru } from '../kernel/lru.ts'

const mostKept = 10_000
/** A digest costs more than all other checks of a cached token, so recent tokens are found by text. */
const mostInUse = 1024
const inUseMs = 5000

/**
 * Tokens with a verified signature. Caches by the digest of the whole token, so that memory holds
 * no usable token for hours. For some seconds the tokens in use are also found by their text; as
 * strings of finished requests they stay in memory about as long anyway.
 */
export function createGoodSignatures<Said extends object>() {
  const byDigest = createLru<Said>(mostKept)
  const inUse = new Map<string, { readonly token: string; readonly said: Said }>()
  let isEnding = false

  function forget(): void {
    inUse.clear()
    isEnding = false
  }
  function use(token: string, said: Said): void {
    if (inUse.size >= mostInUse) inUse.clear()
    const copy = copyOf(token)
    inUse.set(endOf(copy), { token: copy, said })
    if (isEnding) return
    isEnding = true
    setTimeout(forget, inUseMs).unref()
  }

  return {
    find(token: string) {
      const found = inUse.get(endOf(token))
      if (found?.token === token) return found.said
      const said = byDigest.get(digestOf(token))
      if (said !== undefined) use(token, said)
      return said
    },
    keep(token: string, said: Said) {
      byDigest.set(digestOf(token), said)
      use(token, said)
    },
  }
}

/** Hashing the whole token for a look-up takes five times as long; the caller compares the rest. */
function endOf(token: string): string {
  return token.slice(-43)
}

/** A token is a slice of a request, which it would keep in memory. */
function copyOf(token: string): string {
  return Buffer.from(token, 'latin1').toString('latin1')
}

function digestOf(token: string): string {
  return hash('sha256', token, 'base64')
}
