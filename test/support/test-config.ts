import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { stringify } from 'yaml'
import { loadConfig } from '../../src/config/load.ts'
import type { Config } from '../../src/config/schema/schema.ts'
import { testSecret } from './tokens.ts'

/** The configuration that a file with these settings, and a secret, means. */
export function readTestConfig(settings: Readonly<Record<string, unknown>>): Config {
  const directory = mkdtempSync(join(tmpdir(), 'postern-config-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const file = join(directory, 'postern.yaml')
  writeFileSync(file, stringify({ jwt: { secret: testSecret }, ...settings }))
  return loadConfig({ file, env: {}, cwd: directory })
}
