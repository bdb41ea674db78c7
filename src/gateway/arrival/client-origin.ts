import { isIP } from 'node:net'
import type { Arrival } from './arrival.ts'
import type { ArrivingHeaders } from './arriving-headers.ts'
import { createTrust } from './trusted-peers.ts'

/** Where a request came from, as far as trusted peers say so. */
export interface ClientOrigin {
  /** The address of the client: the peer's, or the one that a chain of trusted proxies reports. */
  readonly address: string
  /** The addresses from the client to the peer: the trustworthy part of X-Forwarded-For. */
  readonly chain: string
  readonly scheme: 'http' | 'https'
  /** The host in the client's request. */
  readonly host: string | undefined
  /** A trusted proxy reports a host that is malformed, so that `host` is the one of its own request. */
  readonly isHostMalformed: boolean
  /** The request ID of a trusted proxy, if it is safe to log. */
  readonly requestId: string | undefined
  /** Whether the peer is a trusted proxy. */
  readonly isProxied: boolean
}

export type FindOrigin = (
  arrival: Pick<Arrival, 'remoteAddress' | 'encrypted'>,
  headers: Pick<
    ArrivingHeaders,
    'host' | 'requestId' | 'forwardedFor' | 'forwardedProto' | 'forwardedHost'
  >,
) => ClientOrigin

/**
 * Believes only a peer that is a trusted proxy, given as addresses or CIDR ranges: any client can
 * send X-Forwarded-For.
 */
export function createOriginFinder(trustedProxies: readonly string[]): FindOrigin {
  const isTrusted = createTrust(trustedProxies)

  return ({ remoteAddress, encrypted }, headers) => {
    const scheme = encrypted ? 'https' : 'http'
    const { host, requestId } = headers
    const plain = { address: remoteAddress, chain: remoteAddress, scheme, host } as const
    if (trustedProxies.length === 0 || !isTrusted(remoteAddress)) {
      return { ...plain, isHostMalformed: false, requestId: undefined, isProxied: false }
    }
    const reported = forwardedHost(headers.forwardedHost)
    const chain = trustedChain(headers.forwardedFor, remoteAddress, isTrusted)
    return {
      address: chain[0] ?? remoteAddress,
      chain: chain.join(', '),
      scheme: forwardedScheme(headers.forwardedProto) ?? scheme,
      host: reported ?? host,
      isHostMalformed: reported === undefined && (headers.forwardedHost ?? '').trim() !== '',
      requestId:
        requestId !== undefined && /^[\w.:-]{1,128}$/.test(requestId) ? requestId : undefined,
      isProxied: true,
    }
  }
}

/**
 * Reads from the right: each trusted proxy vouches for the address before it, and the first address
 * that is not trusted is the client. The client itself wrote everything further left.
 */
function trustedChain(
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

/** Some proxies add the port, and put IPv6 in brackets. */
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

/** The entry that the nearest proxy wrote. */
function lastOf(list: string | undefined): string | undefined {
  return list?.split(',').at(-1)?.trim()
}
