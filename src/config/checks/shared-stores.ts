import type { Draft } from '../schema/schema.ts'

/**
 * The missing settings that workers need to act as one gateway. Only one process can open the embedded
 * database; without Redis, captchas, limits and revoked tokens are in the memory of each process.
 */
export function missingSharedStores({
  database,
  redis,
}: Pick<Draft, 'database' | 'redis'>): string[] {
  const urls = { 'database.url': database?.url, 'redis.url': redis?.url }
  return Object.entries(urls).flatMap(([name, url]) => (url === undefined ? [name] : []))
}
