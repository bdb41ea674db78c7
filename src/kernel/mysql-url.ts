import { isIP } from 'node:net'

export interface MysqlTls {
  /** Whether the certificate must be valid for this host. */
  readonly verify: boolean
  /** Names of PEM files. */
  readonly ca: string | undefined
  readonly cert: string | undefined
  readonly key: string | undefined
}

const modes: Readonly<Record<string, 'off' | 'unverified' | 'verified'>> = {
  disable: 'off',
  'no-verify': 'unverified',
  // As in a PostgreSQL URL: the driver there verifies the host in each of these modes.
  require: 'verified',
  'verify-ca': 'verified',
  'verify-full': 'verified',
}
const parameters = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey']

/**
 * Parses `mysql://user:password@host:3306/name?sslmode=verify-full&sslrootcert=/etc/ca.pem`. Returns
 * what is wrong as the rest of a sentence, which never quotes the URL: it may hold a password.
 */
export function readMysqlUrl(url: string) {
  if (/^\w+:\/\/[^/?#]*,/.test(url.replace(/\/\/[^/?#]*@/, '//'))) {
    return 'has several hosts: with MySQL, name one, for example a proxy'
  }
  if (!URL.canParse(url)) {
    return 'is not a valid URL: percent-encode special characters in the user name and password'
  }
  const { hostname, port, username, password, pathname, searchParams } = new URL(url)
  const database = decode(pathname.slice(1))
  const user = decode(username)
  const secret = decode(password)
  if (database === undefined || user === undefined || secret === undefined) {
    return 'has an invalid percent-encoding'
  }
  if (hostname === '' || database === '' || database.includes('/')) {
    return 'has no host or no database: write mysql://user:password@host:3306/name'
  }
  if ([...searchParams.keys()].some((name) => !parameters.includes(name))) {
    return `has an unknown parameter: use ${parameters.join(', ')}`
  }
  const mode = modes[searchParams.get('sslmode') ?? 'disable']
  if (mode === undefined) {
    return `has an unknown sslmode: use ${Object.keys(modes).join(', ')}`
  }
  const file = (name: string) => searchParams.get(name) ?? undefined
  const [ca, cert, key] = [file('sslrootcert'), file('sslcert'), file('sslkey')]
  if (mode === 'off' && (ca ?? cert ?? key) !== undefined) {
    return 'names a certificate without TLS: add sslmode=verify-full'
  }
  // The driver would compare the certificate with "localhost" instead of the address.
  if (mode === 'verified' && isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) {
    return 'names an IP address: with a verified certificate, name the host as the certificate does'
  }
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? 3306 : Number(port),
    user,
    password: secret,
    database,
    /** Unset: no TLS. */
    tls: mode === 'off' ? undefined : { verify: mode === 'verified', ca, cert, key },
  }
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
