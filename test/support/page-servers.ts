import { chmod } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createCertificates } from './certificates.ts'
import { findMariadb, startMariadb } from './mariadb-server.ts'
import { startPostgres } from './postgres-server.ts'
import { startRedis } from './redis-server.ts'
import { groupLdif, personLdif, slapdMissing, startSlapd, suffix } from './slapd.ts'

/** A server that the reader of a page has. */
export type PageServer = 'redis' | 'postgres' | 'mariadb' | 'ldap'

export interface PageServers {
  /** The ports of the servers, by the port on the page. */
  readonly ports: Readonly<Record<number, number>>
  /** The authority that signed the certificate of a server with TLS. */
  readonly authority?: string
}

/** Servers that this machine lacks. The others are always there. */
export function missingServers(servers: readonly PageServer[]): readonly string[] {
  return servers.flatMap((server) => {
    if (server === 'ldap' && slapdMissing !== undefined) return ['slapd']
    return server === 'mariadb' && findMariadb() === undefined ? ['mariadbd'] : []
  })
}

/** Starts them, and adds to `closing` what ends them. */
export async function startServers(
  servers: readonly PageServer[],
  closing: (() => Promise<unknown>)[],
): Promise<PageServers> {
  const ports: Record<number, number> = {}
  let authority: string | undefined
  if (servers.includes('redis')) {
    const redis = await startRedis()
    closing.push(() => redis.stop())
    ports[6379] = redis.port
  }
  if (servers.includes('postgres')) {
    const postgres = await startPostgres()
    closing.push(() => postgres.stop())
    await postgres.query('CREATE DATABASE postern')
    ports[5432] = postgres.port
  }
  if (servers.includes('mariadb')) {
    const certificates = await createCertificates()
    closing.push(() => certificates.remove())
    authority = certificates.authority
    // The server may run as another user.
    await chmod(dirname(certificates.key), 0o755)
    await chmod(certificates.key, 0o644)
    const { certificate, key } = certificates
    const mariadb = await startMariadb([
      ...[`--ssl-cert=${certificate}`, `--ssl-key=${key}`, `--ssl-ca=${authority}`],
    ])
    closing.push(() => mariadb.stop())
    ports[3306] = mariadb.port
  }
  if (servers.includes('ldap')) {
    const certificates = await createCertificates()
    closing.push(() => certificates.remove())
    const anna = personLdif('anna', 'anna-secret')
    const editors = groupLdif('editors', [`uid=anna,ou=people,${suffix}`])
    const slapd = await startSlapd({ ldif: `${anna}\n${editors}`, certificates })
    closing.push(() => slapd.stop())
    ports[389] = slapd.port
  }
  return { ports, ...(authority === undefined ? {} : { authority }) }
}
