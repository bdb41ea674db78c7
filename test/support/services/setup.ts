import { findNginx } from './find-nginx.ts'
import { findPostgres } from './find-postgres.ts'
import { findRedis } from './find-redis.ts'

/**
 * Runs once before every test: finds or brings a real redis-server, a real PostgreSQL and a real
 * nginx, and names them to the workers by their environment. Without them there is no run: nothing
 * is left out in silence.
 */
export function setup(): void {
  const missing: string[] = []
  process.env['POSTERN_TEST_REDIS'] = tried(findRedis, missing)
  process.env['POSTERN_TEST_POSTGRES'] = tried(findPostgres, missing)
  process.env['POSTERN_TEST_NGINX'] = tried(findNginx, missing)
  if (missing.length === 0) return
  // Thrown, it would be told together with a trace and with tests that were not found.
  console.error(missing.join('; '))
  process.exit(1)
}

function tried(find: () => string, missing: string[]): string {
  try {
    return find()
  } catch (error) {
    missing.push(error instanceof Error ? error.message : String(error))
    return ''
  }
}
