import { hash } from 'node:crypto'
import { createLru } from '../lru.ts'

/** What tokens said whose signature was good. */
interface GoodSignatures<Said> {
  find(token: string): Said | undefined
  keep(token: string, said: Said): void
}

const mostKept = 10_000
/** Taking a digest is dearer than all else that is asked of a token that is known. */
const mostInUse = 1024
const inUseMs = 5000

/**
 * Remembers by digest of the whole token: what lies in memory for hours is nothing that anybody
 * could call with. For some seconds, the tokens in use are found by their text. As strings of
 * requests that are over they are in memory for about as long anyway.
 */
export function createGoodSignatures<Said extends object>(): GoodSignatures<Said> {
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
    find(token) {
      const found = inUse.get(endOf(token))
      if (found?.token === token) return found.said
      const said = byDigest.get(digestOf(token))
      if (said !== undefined) use(token, said)
      return said
    },
    keep(token, said) {
      byDigest.set(digestOf(token), said)
      use(token, said)
    },
  }
}

/** To look all of a token up takes five times as long; this is most of its signature, and compared afterwards. */
function endOf(token: string): string {
  return token.slice(-43)
}

/** A token is a piece of a request, and would keep all of it in memory. */
function copyOf(token: string): string {
  return Buffer.from(token, 'latin1').toString('latin1')
}

function digestOf(token: string): string {
  return hash('sha256', token, 'base64')
}
