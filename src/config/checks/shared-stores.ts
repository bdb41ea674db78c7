import type { Draft } from './draft.ts'

/**
 * The settings that are missing for several processes to be one gateway. The embedded database
 * belongs to one process; captchas, limits and ended tokens would else be in the memory of each.
 */
export function notShared({ database, redis }: Pick<Draft, 'database' | 'redis'>): string[] {
  const urls = { 'database.url': database?.url, 'redis.url': redis?.url }
  return Object.entries(urls).flatMap(([name, url]) => (url === undefined ? [name] : []))
}
