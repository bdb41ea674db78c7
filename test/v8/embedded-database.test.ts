import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'

const run = promisify(execFile)
const flags = ['--trace-wasm-compilation-times', '--input-type=module', '--eval']

/** How many functions of a new database V8 optimized while it answered a few queries. */
async function optimizations(open: string): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const script = `
const directory = '${directory}'
${open}
for (let at = 0; at < 200; at++) await database.query('select $1::int + ' + at, [at])
await database.close()
process.exit()
`
  const { stdout } = await run(process.execPath, [...flags, script], { maxBuffer: 1e8 })
  // Node has WebAssembly of its own, for TypeScript; the database is the largest module by far.
  const compiled = [...stdout.matchAll(/^Compiled function (\w+)#\d+ using (\w+)/gm)]
  const modules = Map.groupBy(compiled, ([, module]) => module)
  const largest = [...modules.values()].toSorted((one, other) => other.length - one.length)[0]
  expect(largest?.length).toBeGreaterThan(1000)
  return largest?.filter(([, , compiler]) => compiler === 'TurboFan').length ?? 0
}

test('V8 compiles no part of the embedded database a second time', async () => {
  const embedded = `
const { openEmbedded } = await import('${resolve('src/stores/embedded/embedded-database.ts')}')
const database = await openEmbedded({ directory, statementTimeoutMs: 10_000, mayCreate: true })
`
  const lone = `
const { PGlite } = await import('@electric-sql/pglite')
const database = await PGlite.create(directory + '/lone')
`

  // Once it does not optimize by itself, the flags are not needed any more.
  expect(await optimizations(lone)).toBeGreaterThan(0)

  expect(await optimizations(embedded)).toBe(0)
})
