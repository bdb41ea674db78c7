import { isControlHeader } from '../../control-headers.ts'
import { rememberNames } from '../../wire/remembered-names.ts'

/** How a request header is handled, by its name. */
export type Treatment =
  | 'pass'
  | 'drop'
  | 'control'
  | 'host'
  | 'authorization'
  | 'cookie'
  | 'connection'
  | 'content-length'
  | 'transfer-encoding'
  | 'expect'
  | 'te'
  | 'referer'
  | 'origin'
  | 'fetch-site'
  | 'user-agent'
  | 'content-type'
  | 'forwarded-for'
  | 'forwarded-proto'
  | 'forwarded-host'
  | 'request-id'

/**
 * Names that only Postern may set are dropped in every spelling that a backend folds to the same
 * name.
 */
export function createTreatments(
  injectedNames: readonly string[],
  requestIdName: string,
): (name: string) => Treatment {
  const treatments = new Map(fixedTreatments)
  for (const name of injectedNames) treatments.set(foldName(name.toLowerCase()), 'drop')
  treatments.set(requestIdName.toLowerCase(), 'request-id')

  return rememberNames((name) => {
    const lower = name.toLowerCase()
    const exact = treatments.get(lower)
    if (exact !== undefined) return exact

    const folded = foldName(lower)
    // CGI, WSGI and PHP fold X_User_Id and X-User-Id into one variable (CVE-2025-64484).
    if (folded !== lower && treatments.has(folded)) return 'drop'
    if (isControlHeader(folded)) return folded === lower ? 'control' : 'drop'
    return isReserved(folded) ? 'drop' : 'pass'
  })
}

/**
 * Dropped: hop-by-hop names (RFC 9110 7.6.1); names in which proxies report the client and the trace,
 * which only Postern may set; names with which a client could change method or path after the check
 * (X-HTTP-Method-Override, X-Original-URL); and `Proxy`, which CGI turns into the variable that
 * configures a program's own proxy (CVE-2016-5385).
 */
const fixedTreatments: ReadonlyMap<string, Treatment> = new Map<string, Treatment>([
  ['host', 'host'],
  ['authorization', 'authorization'],
  ['cookie', 'cookie'],
  ['connection', 'connection'],
  ['content-length', 'content-length'],
  ['transfer-encoding', 'transfer-encoding'],
  ['expect', 'expect'],
  ['te', 'te'],
  ['referer', 'referer'],
  ['origin', 'origin'],
  ['sec-fetch-site', 'fetch-site'],
  ['user-agent', 'user-agent'],
  ['content-type', 'content-type'],
  ['x-forwarded-for', 'forwarded-for'],
  ['x-forwarded-proto', 'forwarded-proto'],
  ['x-forwarded-host', 'forwarded-host'],
  ...dropped(
    'keep-alive proxy-connection proxy-authorization proxy-authenticate trailer upgrade',
    'http2-settings proxy forwarded via x-real-ip x-client-ip true-client-ip cf-connecting-ip',
    'x-cluster-client-ip x-http-method x-http-method-override x-method-override',
    'traceparent tracestate',
  ),
])

const reservedPrefixes = ['x-forwarded-', 'x-postern-', 'x-original-', 'x-rewrite-']

function isReserved(folded: string): boolean {
  return folded.startsWith('x-') && reservedPrefixes.some((prefix) => folded.startsWith(prefix))
}

function dropped(...names: readonly string[]): [string, Treatment][] {
  return names.flatMap((line) => line.split(' ').map((name): [string, Treatment] => [name, 'drop']))
}

function foldName(lower: string): string {
  return /[^a-z0-9-]/.test(lower) ? lower.replace(/[^a-z0-9]/g, '-') : lower
}
