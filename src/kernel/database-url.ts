/** A `database.url` with several hosts, as libpq accepts them; the driver does not. */
export interface DatabaseHosts {
  /** One URL for each host, in their order. */
  readonly urls: readonly string[]
  /** What a server must be, for a connection to it to be used. */
  readonly session: SessionAttributes
  /** Whether each connection tries the hosts in random order, not from the first one. */
  readonly random: boolean
}

export type SessionAttributes = 'any' | 'read-write' | 'primary'

/** Whether a `database.url` names a MySQL or MariaDB server. */
export function isMysqlUrl(url: string): boolean {
  return /^(?:mysql|mariadb):/.test(url)
}

const FORM = /^(?<scheme>postgres(?:ql)?:\/\/)(?<authority>[^/?#]*)(?<rest>.*)$/s

/**
 * Parses `postgres://user@a:5432,b:5432/name?target_session_attrs=read-write`. Returns what is wrong
 * as the rest of a sentence, which never quotes the URL: it may hold a password.
 */
export function readDatabaseUrl(url: string): DatabaseHosts | string {
  const parts = FORM.exec(url)?.groups
  const authority = parts?.['authority'] ?? ''
  const at = authority.lastIndexOf('@') + 1
  const hosts = authority.slice(at).split(',')
  const each = hosts.map(
    (host) => `${parts?.['scheme']}${authority.slice(0, at)}${host}${parts?.['rest']}`,
  )
  if (hosts.length > 1 && hosts.includes('')) return 'has an empty host: remove the extra comma'
  if (parts === undefined || !each.every((one) => URL.canParse(one))) {
    return 'is not a valid URL: percent-encode special characters in the user name and password'
  }

  const query = new URL(each[0] ?? url).searchParams
  const session = query.get('target_session_attrs') ?? 'any'
  if (session !== 'any' && session !== 'read-write' && session !== 'primary') {
    return 'has an unsupported target_session_attrs: use read-write, primary or any (Postern writes to its database)'
  }
  const balance = query.get('load_balance_hosts') ?? 'disable'
  if (balance !== 'disable' && balance !== 'random') {
    return 'has an unknown load_balance_hosts: use disable or random'
  }
  return { urls: each.map(withoutHostParameters), session, random: balance === 'random' }
}

/** The driver passes unknown parameters on to the server, which rejects them. */
function withoutHostParameters(url: string): string {
  if (!/[?&](?:target_session_attrs|load_balance_hosts)=/.test(url)) return url
  const parsed = new URL(url)
  parsed.searchParams.delete('target_session_attrs')
  parsed.searchParams.delete('load_balance_hosts')
  return parsed.href
}
