import type { Arrival } from '../../gateway/arrival/arrival.ts'
import type { CheckRequest } from './check-request.ts'

/**
 * The forward-auth request that Envoy would send over HTTP for the same request of a client, so that
 * one function answers both.
 */
export function describedRequest(call: Arrival, check: CheckRequest): Arrival {
  return {
    ...call,
    method: check.method,
    target: `/auth/envoy${check.path}`,
    httpVersion: '1.1',
    rawHeaders: headersOf(check),
    body: undefined,
  }
}

/**
 * Not read: what frames the body, which stays with Envoy; and `X-Forwarded-Host`, because Envoy sends
 * the headers of its client, and routes by the host that it reports in a field of its own.
 */
const unread: ReadonlySet<string> = new Set([
  'host',
  'x-forwarded-host',
  'x-forwarded-for',
  'connection',
  'keep-alive',
  'content-length',
  'transfer-encoding',
  'expect',
  'te',
])

function headersOf(check: CheckRequest): readonly string[] {
  const { headers, host, scheme } = check
  const out = ['Host', host]
  const forwardedFor: string[] = []
  let isProtoReported = false
  for (let at = 0; at < headers.length; at += 2) {
    const name = (headers[at] as string).toLowerCase()
    const value = headers[at + 1] as string
    if (name.startsWith(':')) continue
    if (name === 'x-forwarded-for') forwardedFor.push(value)
    if (unread.has(name)) continue
    if (name === 'x-forwarded-proto') isProtoReported = true
    out.push(name, value)
  }
  if (!isProtoReported) out.push('X-Forwarded-Proto', scheme)
  return [...out, 'X-Forwarded-For', chainOf(forwardedFor, check.peerAddress)]
}

/**
 * Ends with the address of Envoy's own peer, which Envoy adds only with `use_remote_address`. Without
 * it, the client itself could have written the last address.
 */
function chainOf(forwardedFor: readonly string[], peerAddress: string | undefined): string {
  const chain = forwardedFor.join(',')
  const last = chain.split(',').at(-1)?.trim()
  if (peerAddress === undefined || last === peerAddress) return chain
  return chain === '' ? peerAddress : `${chain},${peerAddress}`
}
