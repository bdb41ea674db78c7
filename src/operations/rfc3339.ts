import { latestTime } from '../stores/latest-time.ts'

/** A time in milliseconds since 1970, as documents have it. Stores may contain any number. */
export function rfc3339(ms: number): string {
  return new Date(Math.min(ms, latestTime)).toISOString()
}
