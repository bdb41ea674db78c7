import { createPeers, type Http2Peer } from '../http2/peers.ts'
import type { Stores } from '../run/stores.ts'

/** Postern, nginx and Envoy with the limits that they have when they face the internet. */
export function createServers(main: string, stores: () => Promise<Stores>): readonly Http2Peer[] {
  const peers = createPeers(main, stores, { nginx: withDefaultLimits, envoy: asEdgeProxy })
  return peers.filter(({ name }) => !name.startsWith('bare'))
}

/** Other benchmarks keep connections for ever. By default nginx closes one after 1,000 requests. */
function withDefaultLimits(text: string): string {
  return replaceOnce(text, 'keepalive_requests 1000000000;', '')
}

/** What the documentation of Envoy advises for an edge proxy; without it, it allows more streams. */
function asEdgeProxy(text: string): string {
  const limits =
    'http2_protocol_options: { max_concurrent_streams: 100, initial_stream_window_size: 65536, initial_connection_window_size: 1048576 }'
  const limited = replaceOnce(
    text,
    'codec_type: HTTP2',
    `codec_type: HTTP2\n${indent(16)}${limits}`,
  )
  const timed = replaceOnce(limited, 'stream_idle_timeout: 0s', 'stream_idle_timeout: 300s')
  return replaceOnce(
    timed,
    '      filter_chains:',
    '      per_connection_buffer_limit_bytes: 32768\n      filter_chains:',
  )
}

/** The first one. Throws if there is none, since the server would have other limits than reported. */
function replaceOnce(text: string, from: string, to: string): string {
  if (!text.includes(from)) throw new Error(`a configuration without "${from}"`)
  return text.replace(from, to)
}

const indent = (columns: number) => ' '.repeat(columns)
