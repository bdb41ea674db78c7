import type { Certificates } from './certificates.ts'

/** The rights that `docs/stores.md` gives to the user of the gateways and of `postern policy`. */
export const gatewayRights = [
  '~{postern}:*',
  '&{postern}:*',
  '-@all',
  ...'+ping +info +time +wait +eval +subscribe +unsubscribe +publish'.split(' '),
  ...'+get +set +del +exists +getrange +mget +incrby +pexpire +pexpireat +pttl'.split(' '),
  ...'+hget +hgetall +hmget +hset +hsetnx +hdel +hlen +hscan'.split(' '),
  ...'+lrange +llen +lpush +ltrim'.split(' '),
  ...'+zadd +zrem +zcard +zscore +zrange +zrevrange +zrangebyscore +zremrangebyscore'.split(' '),
  ...'+xadd +xtrim +xlen +xack +xdel +xreadgroup +xautoclaim +xgroup +xinfo'.split(' '),
]

/** What the same user needs in addition on a Redis Cluster. */
export const clusterRights = '+cluster|slots +cluster|info +asking +readonly +readwrite'.split(' ')

/** The rights of the user at the sentinels. */
export const sentinelRights = ['-@all', '+sentinel|get-master-addr-by-name', '+sentinel|master']

/** Options of a Redis that also speaks TLS, on this port, to its peers as well. */
export function tlsOptions(
  port: number,
  { authority }: Pick<Certificates, 'authority'>,
  { certificate, key }: { readonly certificate: string; readonly key: string },
): readonly string[] {
  const files = ['--tls-cert-file', certificate, '--tls-key-file', key]
  const peers = ['--tls-ca-cert-file', authority, '--tls-auth-clients', 'no']
  return ['--tls-port', String(port), ...files, ...peers, '--tls-replication', 'yes']
}
