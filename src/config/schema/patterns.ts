/** A public key as in a .pub file. */
export const KEY_LINE = '^\\s*(?:ssh|ecdsa|sk)-\\S+\\s'
/** An address or a host name to listen on. */
export const HOST = '^[0-9A-Za-z.:%_-]+$'
const REDIS_HOST = '(\\[[0-9A-Fa-f:.]+\\]|[0-9A-Za-z._-]+)(:[0-9]{1,5})?'
/** A Redis server, its sentinels or a cluster. */
export const REDIS_URL = [
  `^rediss?://([^@/]*@)?${REDIS_HOST}(/[0-9]{0,5})?$`,
  `^rediss?\\+sentinel://([^@/]*@)?${REDIS_HOST}(,${REDIS_HOST})*/[^/?#]+(/[0-9]{0,5})?(\\?[^#]*)?$`,
  `^rediss?\\+cluster://([^@/]*@)?${REDIS_HOST}(,${REDIS_HOST})*/?$`,
].join('|')
export const DATABASE_URL = '^(postgres(ql)?|mysql|mariadb)://'
/** Scheme, host and port, as browsers send an origin. */
export const ORIGIN = '^https?://(\\[[0-9a-f:.]+\\]|[0-9a-z._-]+)(:[0-9]{1,5})?$'
export const ORIGIN_OR_ANY = `${ORIGIN}|^[*]$`
/** A collector of spans: without credentials and query, because it appears in logs. */
export const COLLECTOR_URL =
  '^https?://(\\[[0-9A-Fa-f:.]+\\]|[0-9A-Za-z._-]+)(:[0-9]{1,5})?(/[!-"$->@-~]*)?$'
/** The value of a Host header. */
export const HOST_HEADER = '^(\\[[0-9A-Fa-f:.]+\\]|[0-9A-Za-z._-]+)(:[0-9]{1,5})?$'
/** A host of requests, or `*.` and a host: `config/checks/hosts.ts` says whether it is canonical. */
export const HOST_PATTERN = '^([*][.])?[^\\s*/@?#]+$'
export const HTTP_METHOD = '^[A-Z][A-Z-]{0,31}$'
/** The name of a route. No slash: it must not look like the path of another route. */
export const ROUTE_NAME = '^[0-9A-Za-z][0-9A-Za-z._-]{0,62}$'
/** The name in a certificate. */
export const SERVER_NAME = '^[0-9A-Za-z_-]+([.][0-9A-Za-z_-]+)*$'
export const UPSTREAM_NAME = '^[a-z][a-z0-9-]{0,62}$'
export const ISSUER_NAME = '^[a-z0-9][a-z0-9.-]{0,62}$'
/** A scope of OAuth (RFC 6749 3.3). */
export const SCOPE = '^[!#-\\[\\]-~]{1,128}$'
/** A claim by name, or by JSON pointer (RFC 6901). */
export const CLAIM_NAME = '^[^/].*$|^(/([^~/]|~[01])+)+$'
/** Where a token is: a carrier of ours, or the name of a header. */
export const CARRIER = '^(header|query|cookie|basic|[Xx]-[0-9A-Za-z-]{0,61}[0-9A-Za-z])$'
/** Ends with something else than a digit: with digits, users of an issuer could look like accounts. */
export const USER_ID_PREFIX = '^([!-~]*[!-/:-~])?$'
/** The name of a header (RFC 9110 5.6.2). */
export const HEADER_NAME = "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$"
/** Letters that no server reads as another name. */
export const COOKIE_NAME = '^[A-Za-z0-9_-]{1,64}$'
/** Printable ASCII without spaces at either end: no CR, LF or NUL. */
export const HEADER_VALUE = '^[!-~]([ -~]*[!-~])?$'
/** Where to redirect to. */
export const REDIRECT = '^(https?://[A-Za-z0-9.:-]+([/?{][!-~]*)?|/[!-~]*)$'
/** A page, without credentials and query. */
export const WEB_URL = '^https?://[0-9a-z._-]+(:[0-9]{1,5})?/[!-"$->@-~]*$'
/** A token of the Upgrade header, in lower case. */
export const PROTOCOL = '^[a-z0-9][a-z0-9./-]{0,31}$'
/** A path with an optional query. */
export const REQUEST_TARGET = '^/[!-~]*$'
/** The name of a login method or of a directory. */
export const METHOD_NAME = '^[a-z0-9-]{1,32}$'
/** A directory server, without a path. */
export const LDAP_URL = '^ldaps?://(\\[[0-9A-Fa-f:.]+\\]|[0-9A-Za-z._-]+)(:[0-9]{1,5})?$'
/** The name of an attribute (RFC 4512 1.4). */
export const LDAP_ATTRIBUTE = '^[A-Za-z][0-9A-Za-z-]*$'
export const ALPHANUMERIC = '^[0-9A-Za-z]+$'
export const PRINTABLE = '^[!-~]+$'
/** A language tag (RFC 5646) without extensions. */
export const LANGUAGE_TAG = '^[A-Za-z]{2,8}(-[0-9A-Za-z]{2,8}){0,3}$'
/** The kind of a refusal or a fault. */
export const MESSAGE_KIND = '^[a-z][a-z-]{0,40}$'
export const NOT_BLANK = '\\S'
/** Authenticator apps split a label at its colon. */
export const TOTP_ISSUER = '^[^:\\x00-\\x1f\\x7f]*[^:\\s\\x00-\\x1f\\x7f][^:\\x00-\\x1f\\x7f]*$'

const forms: Readonly<Record<string, string>> = {
  [HOST]: 'an IP address or a host name, without brackets',
  [REDIS_URL]:
    'a Redis URL: redis://host:6379/0, redis+sentinel://h1,h2/master or redis+cluster://h1,h2 (rediss with TLS)',
  [DATABASE_URL]:
    'a database URL: postgres://user:password@host:5432/name, or mysql://user:password@host:3306/name',
  [ORIGIN]: 'an origin such as https://app.example.com, in lower case and without a path',
  [ORIGIN_OR_ANY]: 'an origin such as https://app.example.com, in lower case and without a path',
  [COLLECTOR_URL]: 'a URL such as http://collector:4318, without user, password and query',
  [HOST_HEADER]: 'target, client, or a host name with an optional port',
  [HOST_PATTERN]: 'a host such as api.example.com, or *.example.com for all names below',
  [HTTP_METHOD]: 'a method in upper case, such as GET',
  [ROUTE_NAME]: 'letters, digits, dots, hyphens and underscores, starting with a letter or digit',
  [SERVER_NAME]: 'a host name such as orders.internal',
  [UPSTREAM_NAME]: 'lower-case letters, digits and hyphens, starting with a letter',
  [ISSUER_NAME]: 'lower-case letters, digits, dots and hyphens, starting with a letter or digit',
  [SCOPE]: 'one scope, without spaces',
  [CLAIM_NAME]: 'the name of a claim, or a JSON pointer such as /realm_access/roles',
  [CARRIER]: 'header, query, cookie, basic, or the name of a header that begins with X-',
  [USER_ID_PREFIX]: 'printable ASCII characters without spaces, and no digit at the end',
  [HEADER_NAME]: 'a header name such as X-User-Id: letters, digits and hyphens, 64 at most',
  [COOKIE_NAME]: 'a cookie name such as postern-target: letters, digits, - and _, 64 at most',
  [HEADER_VALUE]: 'printable ASCII characters, without spaces at the start or end',
  [REDIRECT]: 'an absolute URL such as https://www.example.com/new, or a path that starts with /',
  [WEB_URL]: 'a URL such as https://login.example.com/login, without user, password and query',
  [PROTOCOL]: 'a protocol name in lower case, such as websocket',
  [REQUEST_TARGET]: 'a path that starts with /, without spaces',
  [METHOD_NAME]: 'lower-case letters, digits and hyphens, 32 at most',
  [LDAP_URL]: 'a directory URL such as ldaps://dc1.example.com:636, without a path',
  [LDAP_ATTRIBUTE]: 'the name of an attribute such as uid: letters, digits and hyphens',
  [ALPHANUMERIC]: 'letters and digits',
  [PRINTABLE]: 'printable ASCII characters without spaces',
  [LANGUAGE_TAG]: 'a language tag such as zh, en or pt-BR',
  [MESSAGE_KIND]: 'a kind of message such as token-missing: docs/refusals.md#refusals lists them',
  [TOTP_ISSUER]: 'a name without colons and control characters, such as Example Shop',
  [NOT_BLANK]: 'text with at least one visible character',
}

/** What a pattern matches, in words for an error message. */
export function formOf(pattern: string): string | undefined {
  return forms[pattern]
}
