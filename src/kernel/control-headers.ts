const families = ['x-accel-', 'x-sendfile', 'x-envoy-', 'x-middleware-']

/**
 * Whether a header, by its lower-case name, controls a server: nginx and Rack send files
 * (X-Accel-Mapping, X-Sendfile-Type; CVE-2025-61780), Envoy retries and waits (X-Envoy-Max-Retries),
 * Next.js skips its own checks (X-Middleware-Subrequest; CVE-2025-29927). Proxies set these; clients
 * must not, unless the route lists the header in `passHeaders`. Headers that change path or method after
 * the permission check are not included, because no route may pass those.
 */
export function isControlHeader(lower: string): boolean {
  return lower.startsWith('x-') && families.some((family) => lower.startsWith(family))
}
