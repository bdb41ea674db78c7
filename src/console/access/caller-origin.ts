import type { FastifyRequest } from 'fastify'
import type { FindOrigin } from '../../gateway/arrival/client-origin.ts'
import { peerAddress } from '../../http/connections/peer-address.ts'

/** Where a request came from, for limits, the login log and the audit log. */
export interface CallerOrigin {
  readonly address: string
  readonly userAgent: string
}

export type FindCallerOrigin = (request: FastifyRequest) => CallerOrigin

/** Believes the same proxies as the gateway. */
export function createCallerOrigin(findOrigin: FindOrigin): FindCallerOrigin {
  return ({ headers, raw: { socket } }) => {
    const given = (name: string) => {
      const value = headers[name]
      return Array.isArray(value) ? value.join(', ') : value
    }
    const { address } = findOrigin(
      { remoteAddress: peerAddress(socket) ?? '', encrypted: 'encrypted' in socket },
      {
        host: headers.host,
        forwardedFor: given('x-forwarded-for'),
        forwardedProto: given('x-forwarded-proto'),
        forwardedHost: given('x-forwarded-host'),
        requestId: undefined,
      },
    )
    return { address, userAgent: headers['user-agent'] ?? '' }
  }
}
