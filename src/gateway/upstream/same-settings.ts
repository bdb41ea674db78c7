import { isDeepStrictEqual } from 'node:util'
import type { TargetTls } from '../../wire/connect.ts'

interface WithTls {
  readonly tls?: TargetTls | undefined
}

/** A TLS context has no content to compare: the same files give the same object. */
export function hasSameSettings<Settings extends WithTls>(
  { tls, ...rest }: Settings,
  { tls: other, ...others }: Settings,
): boolean {
  if (tls?.secureContext !== other?.secureContext) return false
  return tls?.serverName === other?.serverName && isDeepStrictEqual(rest, others)
}
