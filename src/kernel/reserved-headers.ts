import { isControlHeader } from './control-headers.ts'

/**
 * Request headers that clients may not send to upstreams: hop-by-hop names (RFC 9110 7.6.1); names in
 * which proxies report the client and the trace, which only Postern may set; names with which a client
 * could change method or path after the check (X-HTTP-Method-Override, X-Original-URL); and `Proxy`,
 * which CGI turns into the variable that configures a program's own proxy (CVE-2016-5385).
 */
export const droppedHeaders: readonly string[] = [
  'keep-alive proxy-connection proxy-authorization proxy-authenticate trailer upgrade',
  'http2-settings proxy forwarded via x-real-ip x-client-ip true-client-ip cf-connecting-ip',
  'x-cluster-client-ip x-http-method x-http-method-override x-method-override',
  'traceparent tracestate',
].flatMap((line) => line.split(' '))

const reservedPrefixes = ['x-forwarded-', 'x-postern-', 'x-original-', 'x-rewrite-']

/** Whether the name, folded by `foldName`, belongs to a family that only Postern may set. */
export function isReservedFamily(folded: string): boolean {
  return folded.startsWith('x-') && reservedPrefixes.some((prefix) => folded.startsWith(prefix))
}

/** CGI, WSGI and PHP fold X_User_Id and X-User-Id into one variable (CVE-2025-64484). */
export function foldName(lower: string): string {
  return /[^a-z0-9-]/.test(lower) ? lower.replace(/[^a-z0-9]/g, '-') : lower
}

/**
 * The name, folded, under which a gRPC service finds the header in its metadata: values of names that end
 * in `-bin` are binary, and grpc-gateway hands on `Grpc-Metadata-X-User-Id` as `x-user-id`.
 */
export function metadataName(folded: string): string {
  const name = folded.startsWith('grpc-metadata-') ? folded.slice('grpc-metadata-'.length) : folded
  return name.endsWith('-bin') ? name.slice(0, -'-bin'.length) : name
}

/** Names that frame or route a message, or carry credentials. */
const core = 'host connection te transfer-encoding content-length expect date'.split(' ')

const requestOnly = new Set([...core, ...droppedHeaders, 'authorization', 'cookie', 'destination'])
const responseOnly = new Set([...core, ...droppedHeaders, 'set-cookie', 'authentication-info'])

/**
 * Whether no setting of a route may touch the header. `own` are the names that identify the caller, in
 * lower case and folded.
 */
export function isReservedHeader(
  name: string,
  direction: 'request' | 'response',
  own: ReadonlySet<string>,
): boolean {
  const folded = foldName(name.toLowerCase())
  const reserved = direction === 'request' ? requestOnly : responseOnly
  if (reserved.has(folded) || own.has(folded) || isReservedFamily(folded)) return true
  if (own.has(metadataName(folded))) return true
  return isControlHeader(folded) || folded.startsWith('sec-websocket-')
}
