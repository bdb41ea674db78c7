import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { stringify } from 'yaml'
import { testSecret } from '../support/tokens.ts'
import { until } from '../support/until.ts'

interface Started {
  /** What it has written so far. */
  text(): string
  /** The number of the console's process that listens. */
  consolePid(): number | undefined
  consoleAddress(): string
  gatewayAddress(): string
  signal(name: NodeJS.Signals): void
  exited(): Promise<readonly [number | null, string | null]>
}

/** `postern serve` in a process of its own, with the console beside it. */
async function startWithConsole(changes: Record<string, object> = {}): Promise<Started> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-both-'))
  const dataDirectory = join(directory, 'data')
  await cp(inject('databaseTemplate'), dataDirectory, { recursive: true })
  const configFile = join(directory, 'postern.yaml')
  const config = {
    application: { mode: 'dev', host: '127.0.0.1', port: 0, dataDirectory },
    ops: { port: 0 },
    jwt: { secret: testSecret },
    policy: { directory: join(import.meta.dirname, '../../policies') },
    shutdown: { graceMs: 0, idleMs: 0, deadlineMs: 5000 },
    console: { enabled: true, port: 0 },
    ...changes,
  }
  await writeFile(configFile, stringify(config))
  const child = spawn(process.execPath, ['src/main.ts', 'serve', '--config', configFile], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // Without the variables of the test run, which look like settings.
    env: { PATH: process.env['PATH'] ?? '' },
  })
  let text = ''
  for (const output of [child.stdout, child.stderr]) output.on('data', (part) => (text += part))
  const exited = once(child, 'exit') as Promise<[number | null, string | null]>
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
    await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  })
  const lines = () =>
    text.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []))
  const last = (message: string) => lines().findLast(({ msg }) => msg === message)
  return {
    text: () => text,
    consolePid: () => last('console listening')?.pid,
    consoleAddress: () => last('console listening')?.address,
    gatewayAddress: () => `http://127.0.0.1:${last('listening')?.port}`,
    signal: (name) => void child.kill(name),
    exited: () => exited,
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const listening = (started: Started) => until(() => started.consolePid() !== undefined)

describe('the console beside a gateway', () => {
  test('starts again when it dies, without the gateway noticing, and ends with the gateway', async () => {
    const both = await startWithConsole()
    await listening(both)
    const first = both.consolePid() ?? 0
    expect((await fetch(both.consoleAddress())).status).toBe(200)
    const session = `${both.consoleAddress()}api/v1/session`
    expect((await fetch(session)).status).toBe(401)

    process.kill(first, 'SIGKILL')
    await until(() => both.consolePid() !== first)
    expect(both.text()).toContain('console exited; starting it again')
    expect((await fetch(`${both.gatewayAddress()}/api/v1/captcha`)).status).toBe(200)
    expect((await fetch(both.consoleAddress())).status).toBe(200)

    const second = both.consolePid() ?? 0
    both.signal('SIGTERM')
    expect(await both.exited()).toEqual([0, null])
    expect(isAlive(second)).toBe(false)
  })

  test('ends when the gateway is killed', async () => {
    const both = await startWithConsole()
    await listening(both)
    const pid = both.consolePid() ?? 0

    both.signal('SIGKILL')
    await both.exited()
    await until(() => !isAlive(pid))
  })

  test('does not keep the gateway from serving when it cannot start', async () => {
    const both = await startWithConsole({
      console: {
        enabled: true,
        host: '127.0.0.1',
        port: 0,
        tls: { certFile: 'no', keyFile: 'no' },
      },
    })
    await until(() => both.text().includes('console exited; starting it again'))

    expect(both.text()).toMatch(/no.*(?:ENOENT|cannot be read|no such file)/i)
    expect((await fetch(`${both.gatewayAddress()}/api/v1/captcha`)).status).toBe(200)
    both.signal('SIGTERM')
    expect(await both.exited()).toEqual([0, null])
  })
})
