import { Invalid } from '../../kernel/errors.ts'

/** Where Redis is, read from its URL. */
export interface RedisAddress {
  readonly kind: 'standalone' | 'sentinel' | 'cluster'
  readonly hosts: readonly { readonly host: string; readonly port: number }[]
  readonly tls: boolean
  readonly db: number
  /** The name of the master that the sentinels watch. */
  readonly master?: string
  readonly username?: string
  readonly password?: string
  readonly sentinelUsername?: string
  readonly sentinelPassword?: string
}

const FORM =
  /^(?<scheme>rediss?)(?:\+(?<kind>sentinel|cluster))?:\/\/(?:(?<user>[^:@/]*)(?::(?<password>[^@/]*))?@)?(?<hosts>[^@/?#]+)(?:\/(?<path>[^?#]*))?(?:\?(?<query>[^#]*))?$/

const HOST = /^(?:\[(?<six>[0-9A-Fa-f:.]+)\]|(?<name>[0-9A-Za-z._-]+))(?::(?<port>\d{1,5}))?$/

/**
 * Reads `redis://user:password@host:port/db`, `redis+sentinel://h1,h2/master/db` and
 * `redis+cluster://h1,h2`; `rediss` is the same over TLS. Throws `Invalid` on anything else, and
 * never quotes the URL: it may contain a password.
 */
export function parseRedisUrl(url: string): RedisAddress {
  const parts = FORM.exec(url)?.groups
  if (parts === undefined) return refuse('write redis://host:port, or see config/schema.json')

  const kind = (parts['kind'] ?? 'standalone') as RedisAddress['kind']
  const hosts = (parts['hosts'] ?? '').split(',').map((text) => {
    const host = HOST.exec(text)?.groups
    const port = Number(host?.['port'] ?? (kind === 'sentinel' ? 26_379 : 6379))
    if (host === undefined || port > 65_535) return refuse('write each host as host or host:port')
    return { host: host['six'] ?? host['name'] ?? '', port }
  })
  if (kind === 'standalone' && hosts.length > 1) {
    refuse('several hosts need redis+sentinel:// or redis+cluster://')
  }

  const query = new URLSearchParams(parts['query'])
  return {
    kind,
    hosts,
    tls: parts['scheme'] === 'rediss',
    ...readPath(kind, parts['path'] ?? ''),
    ...given('username', decode(parts['user'])),
    ...given('password', decode(parts['password'])),
    ...given('sentinelUsername', query.get('sentinelUsername')),
    ...given('sentinelPassword', query.get('sentinelPassword')),
  }
}

/** Whether every key that begins with this prefix lies in one slot of a Redis Cluster. */
export function hasHashTag(prefix: string): boolean {
  return /^[^{]*\{[^}]+\}/.test(prefix)
}

function readPath(kind: RedisAddress['kind'], path: string): { db: number; master?: string } {
  const [first = '', second = '', ...rest] = path.split('/').map((part) => decode(part) ?? '')
  const [master, number] = kind === 'sentinel' ? [first, second] : ['', first]
  const extra = kind === 'sentinel' ? rest.length > 0 : second !== '' || rest.length > 0
  if (extra || !/^\d{0,5}$/.test(number))
    return refuse('only a database number may follow the hosts')
  if (kind === 'cluster' && number !== '') return refuse('a cluster has no database numbers')
  if (kind === 'sentinel' && master === '') {
    return refuse('redis+sentinel:// needs the name of the master: redis+sentinel://h1,h2/name')
  }
  return { db: Number(number), ...(master === '' ? {} : { master }) }
}

function given<Key extends string>(key: Key, value: string | null | undefined) {
  return (value ? { [key]: value } : {}) as { readonly [K in Key]?: string }
}

function decode(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  try {
    return decodeURIComponent(text)
  } catch {
    return refuse('a % must be followed by two hexadecimal digits')
  }
}

function refuse(hint: string): never {
  throw new Invalid([{ file: 'redis.url', message: `is not a valid Redis URL: ${hint}` }])
}
