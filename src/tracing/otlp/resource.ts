import { randomUUID } from 'node:crypto'

interface ResourceOptions {
  readonly version: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Called with what is wrong with OTEL_RESOURCE_ATTRIBUTES. */
  readonly onInvalid: (problem: string) => void
}

/**
 * What tells the spans of this process from others. The two variables are those that Kubernetes
 * operators and other deployment tools set for every service.
 */
export function readResource({
  version,
  env,
  onInvalid,
}: ResourceOptions): Readonly<Record<string, string>> {
  const name = env['OTEL_SERVICE_NAME']
  return {
    'service.name': 'postern',
    'service.version': version,
    'service.instance.id': randomUUID(),
    ...readAttributes(env['OTEL_RESOURCE_ATTRIBUTES'] ?? '', onInvalid),
    ...(name && { 'service.name': name }),
  }
}

/** Ignores the whole text if a part of it is malformed, as the specification of OpenTelemetry says. */
function readAttributes(
  text: string,
  onInvalid: (problem: string) => void,
): Readonly<Record<string, string>> {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '')
  try {
    return Object.fromEntries(pairs.map(readPair))
  } catch {
    onInvalid('expected key=value pairs, separated by commas and percent-encoded')
    return {}
  }
}

function readPair(pair: string): readonly [string, string] {
  const at = pair.indexOf('=')
  const [key, value] = [pair.slice(0, at), pair.slice(at + 1)].map((part) =>
    decodeURIComponent(part.trim()),
  )
  if (at < 1 || !key || value === undefined) throw new Error('not a key=value pair')
  return [key, value]
}
