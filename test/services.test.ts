import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'

const run = promisify(execFile)

/** Looks for the services as a test run does, on a machine with these settings and nothing else. */
async function lookFor(env: Readonly<Record<string, string>>) {
  const nowhere = await mkdtemp(join(tmpdir(), 'postern-nowhere-'))
  onTestFinished(() => rm(nowhere, { recursive: true, force: true }))
  const setup = join(import.meta.dirname, 'support', 'services', 'setup.ts')
  const script = `import(${JSON.stringify(setup)}).then(({ setup }) => setup())`
  const found = run(process.execPath, ['--eval', script], {
    env: { PATH: nowhere, POSTERN_TEST_PLACES: nowhere, HOME: nowhere, ...env },
  })
  const required = (said: string) => said.replace(/^left out: .*\n/gm, '')
  return found.then(
    ({ stderr }) => ({ code: 0, stderr: required(stderr) }),
    ({ code, stderr }: { code: number; stderr: string }) => ({ code, stderr: required(stderr) }),
  )
}

const { POSTERN_TEST_REDIS: redis = '', POSTERN_TEST_POSTGRES: postgres = '' } = process.env

describe('a machine for the tests', () => {
  test('that has what the environment names is good', async () => {
    const named = { POSTERN_TEST_REDIS: redis, POSTERN_TEST_POSTGRES: postgres }

    expect(await lookFor(named)).toMatchObject({ code: 0 })
  })

  test('without redis-server, and without a way to it, is told in one line what to install', async () => {
    const { code, stderr } = await lookFor({ POSTERN_TEST_POSTGRES: postgres })

    expect(code).toBe(1)
    expect(stderr).toMatch(/^the tests need redis-server [\d.]+ or later: install it .*\n$/)
  })

  test('where the environment names something else is told so, and nothing is left out', async () => {
    const { code, stderr } = await lookFor({
      ...{ POSTERN_TEST_REDIS: process.execPath, POSTERN_TEST_POSTGRES: '/nowhere' },
    })

    expect(code).toBe(1)
    expect(stderr).toMatch(/^POSTERN_TEST_REDIS names .*; POSTERN_TEST_POSTGRES names .*\n$/)
  })
})

const hasProc = process.platform === 'linux'
if (!hasProc)
  console.warn('left out: what tests leave running is found in /proc, which only Linux has')

describe.runIf(hasProc)('what a test leaves running', () => {
  test('is killed at the end of the run, and what others run is not', async () => {
    const file = join(import.meta.dirname, 'support', 'services', 'leftovers.ts')
    // A worker of the tests that ends without having stopped what it started.
    const worker = `require('node:child_process').spawn('sleep', ['600'], { stdio: 'ignore' }).unref()`
    const script = `
      const { spawn, spawnSync } = require('node:child_process')
      import(${JSON.stringify(file)}).then(({ markRun, killLeftovers }) => {
        const other = spawn('sleep', ['601'], { stdio: 'ignore' })
        markRun()
        spawnSync(process.execPath, ['--eval', ${JSON.stringify(worker)}])
        const killed = killLeftovers().map(({ command }) => command)
        console.log(JSON.stringify(killed))
        other.kill()
      })`
    const { stdout } = await run(process.execPath, ['--eval', script])

    expect(JSON.parse(stdout)).toEqual(['sleep 600'])
  })
})
