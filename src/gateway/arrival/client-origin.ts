import { isIP } from 'node:net'
import type { Arrival } from './arrival.ts'
import type { ArrivingHeaders } from './arriving-headers.ts'
import { createTrust } from './trusted-peers.ts'

/** Where a request came from, as far as it can be believed. */
export interface ClientOrigin {
  /** The address of the client: the peer's, or what a chain of trusted proxies says. */
  readonly address: string
  /** The addresses from the client to the peer, all that can be believed of X-Forwarded-For. */
  readonly chain: string
  readonly scheme: 'http' | 'https'
  /** The host that the client asked for. */
  readonly host: string | undefined
  /** The request ID that a trusted proxy gave, if it can stand in a log line. */
  readonly requestId: string | undefined
}

export type FindOrigin = (arrival: Arrival, headers: ArrivingHeaders) => ClientOrigin

/**
 * Reads where a request came from. What a peer says about it counts only when that peer is one of
 * the trusted proxies, given as addresses or CIDR ranges: anybody can write X-Forwarded-For.
 */
export function createOriginFinder(trustedProxies: readonly string[]): FindOrigin {
  const isTrusted = createTrust(trustedProxies)

  return ({ remoteAddress, encrypted }, headers) => {
    const scheme = encrypted ? 'https' : 'http'
    const { host, requestId } = headers
    const plain = { address: remoteAddress, chain: remoteAddress, scheme, host } as const
    if (trustedProxies.length === 0 || !isTrusted(remoteAddress)) {
      return { ...plain, requestId: undefined }
    }
    const chain = believed(headers.forwardedFor, remoteAddress, isTrusted)
    return {
      address: chain[0] ?? remoteAddress,
      chain: chain.join(', '),
      scheme: forwardedScheme(headers.forwardedProto) ?? scheme,
      host: forwardedHost(headers.forwardedHost) ?? host,
      requestId:
        requestId !== undefined && /^[\w.:-]{1,128}$/.test(requestId) ? requestId : undefined,
    }
  }
}

/**
 * From the right: each trusted proxy is believed about who stood before it, and the first that is
 * not trusted is the client. What stands further left is the client's own story.
 */
function believed(
  forwardedFor: string | undefined,
  peer: string,
  isTrusted: (address: string) => boolean,
): readonly string[] {
  const chain = [peer]
  const entries = (forwardedFor ?? '').split(',').map((entry) => entry.trim())
  while (entries.length > 0 && isTrusted(chain[0] ?? '')) {
    const before = plainAddress(entries.pop() ?? '')
    if (isIP(before) === 0) break
    chain.unshift(before)
  }
  return chain
}

/** Some proxies write the port too, and IPv6 in brackets. */
function plainAddress(entry: string): string {
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(entry)?.[1]
  const address = bracketed ?? /^(\d+\.\d+\.\d+\.\d+)(?::\d+)?$/.exec(entry)?.[1] ?? entry
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address
}

function forwardedScheme(text: string | undefined): 'http' | 'https' | undefined {
  const last = lastOf(text)?.toLowerCase()
  return last === 'http' || last === 'https' ? last : undefined
}

function forwardedHost(text: string | undefined): string | undefined {
  const last = lastOf(text)
  return last !== undefined && /^(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d{1,5})?$/.test(last)
    ? last
    : undefined
}

/** What the nearest proxy said. */
function lastOf(list: string | undefined): string | undefined {
  return list?.split(',').at(-1)?.trim()
}
