import { createTokens, forbidden, permitted } from './rules.ts'

/** What one client asks for, over and over. */
export interface Workload {
  readonly name: string
  /** For the tables. */
  readonly title: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** Whether a number of its own follows every path. */
  readonly ids?: boolean
  readonly bodyBytes?: number
  readonly connections: number
  readonly tls?: boolean
  /** The callers, in turn; an empty text is a request without a token. */
  readonly tokens: readonly string[]
  /** The share of the requests that a checking peer passes on. */
  readonly passes: number
  /** Whether it says nothing about a peer that checks nothing. */
  readonly checkedOnly?: boolean
  /** Whether it is for peers with several processes, each of which is to have as much as a single one. */
  readonly forSeveral?: boolean
}

const [token = '', ...others] = createTokens(1000)

const get = {
  method: 'GET',
  path: permitted.one,
  connections: 64,
  tokens: [token],
  passes: 1,
} as const

/** Everything that is asked of the peers, the figure that counts first. */
export const workloads: readonly Workload[] = [
  { ...get, name: 'get', title: 'GET' },
  { ...get, name: 'ids', title: 'GET, ids vary', path: `${permitted.collection}/`, ids: true },
  { ...get, name: 'double', title: 'GET, 128 connections', connections: 128, forSeveral: true },
  // Early, because memory is its point: what large bodies leave behind is not what it asks about.
  { ...get, name: 'thousand', title: '1,000 connections', connections: 1000 },
  {
    ...get,
    name: 'post',
    title: 'POST 1 KiB',
    method: 'POST',
    path: permitted.collection,
    bodyBytes: 1024,
  },
  { ...get, name: 'large', title: '100 KiB answer', path: `${permitted.collection}/large` },
  {
    ...get,
    name: 'tokens',
    title: '1,000 tokens',
    tokens: [token, ...others],
    checkedOnly: true,
  },
  { ...get, name: 'denied', title: 'denied', path: forbidden, passes: 0, checkedOnly: true },
  {
    ...get,
    name: 'strangers',
    title: '10 % without token',
    tokens: [...Array.from({ length: 9 }, () => token), ''],
    passes: 0.9,
    checkedOnly: true,
  },
  { ...get, name: 'tls', title: 'TLS', tls: true },
]
