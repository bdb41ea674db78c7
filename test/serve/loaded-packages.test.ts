import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startLoneGateway } from '../support/lone-gateway.ts'
import type { Sections } from '../support/lone-gateway-config.ts'

/** What every gateway needs; the metrics client brings @opentelemetry/api. */
const always = [
  '@opentelemetry/api',
  '@prometheus-io/client',
  'bcrypt',
  'bowser',
  'jose',
  'kysely',
  'lru-cache',
  'pino',
  'yaml',
]

test('a gateway loads only the packages that its configuration uses', async () => {
  const { packages, files } = await loadedWith({})

  expect(packages).toEqual([...always, 'pg'].toSorted())
  expect(files).toContain('tracing/find-spans.ts')
  expect(files.filter((file) => /^(?:console|tracing\/(?:otlp|sdk-))/.test(file))).toEqual([])
})

test('a gateway with Redis loads the driver too', async () => {
  const { packages } = await loadedWith({ redis: { url: 'redis://127.0.0.1:9' } })

  expect(packages).toEqual([...always, 'ioredis', 'pg'].toSorted())
})

/** The packages of package.json, and the files of ours, that a gateway has loaded when it listens. */
async function loadedWith(sections: Sections) {
  const directory = await mkdtemp(join(tmpdir(), 'postern-loaded-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const list = join(directory, 'modules')
  const options = { preload: 'loaded-modules.mjs', env: { LOADED_MODULES: list } }
  const { gateway } = await startLoneGateway(sections, options)
  expect(await gateway.stop()).toBe(0)
  const urls = (await readFile(list, 'utf8')).split('\n')
  const { dependencies } = JSON.parse(await readFile('package.json', 'utf8'))
  return {
    packages: Object.keys(dependencies)
      .filter((name) => urls.some((url) => url.includes(`/node_modules/${name}/`)))
      .toSorted(),
    files: urls.flatMap((url) => url.split('/src/')[1] ?? []),
  }
}
