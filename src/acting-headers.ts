const families = ['x-accel-', 'x-sendfile', 'x-envoy-', 'x-middleware-']

/**
 * Whether this is a header that makes a server do something, by its name in small letters: nginx and
 * Rack send files (X-Accel-Mapping, X-Sendfile-Type; CVE-2025-61780), Envoy retries and waits
 * (X-Envoy-Max-Retries), Next.js leaves out its own checks (X-Middleware-Subrequest; CVE-2025-29927).
 * Proxies set these; a client must not, unless a route says so. Headers that change path or method
 * behind the permission check are not among them, because no route may pass those.
 */
export function makesServersAct(lower: string): boolean {
  return lower.startsWith('x-') && families.some((family) => lower.startsWith(family))
}
