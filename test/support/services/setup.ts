import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findNginx } from './find-nginx.ts'
import { findPostgres } from './find-postgres.ts'
import { findRedis } from './find-redis.ts'
import { killLeftovers, markRun } from './leftovers.ts'

const compiled = mkdtempSync(join(tmpdir(), 'postern-compiled-'))

/**
 * Runs once before every test: finds or brings a real redis-server and a real PostgreSQL, and names
 * them to the workers by their environment. Without them there is no run: nothing is left out in
 * silence. An nginx is what others may have in front: where none can be had, a line says that the
 * tests with one are left out.
 */
export function setup(): void {
  markRun()
  // Hundreds of gateways are started from source: what the first compiled, the others need not.
  process.env['NODE_COMPILE_CACHE'] ??= compiled
  const missing: string[] = []
  process.env['POSTERN_TEST_REDIS'] = tried(findRedis, missing)
  process.env['POSTERN_TEST_POSTGRES'] = tried(findPostgres, missing)
  const leftOut: string[] = []
  process.env['POSTERN_TEST_NGINX'] = tried(findNginx, leftOut)
  if (leftOut.length > 0) console.warn(`left out: the tests behind nginx; ${leftOut.join('; ')}`)
  if (missing.length === 0) return
  // Thrown, it would be told together with a trace and with tests that were not found.
  console.error(missing.join('; '))
  process.exit(1)
}

/** Runs once after every test. */
export function teardown(): void {
  for (const { pid, command } of killLeftovers()) {
    console.warn(`killed what a test left running: ${pid} ${command.slice(0, 200)}`)
  }
  rmSync(compiled, { recursive: true, force: true })
}

function tried(find: () => string, missing: string[]): string {
  try {
    return find()
  } catch (error) {
    missing.push(error instanceof Error ? error.message : String(error))
    return ''
  }
}
