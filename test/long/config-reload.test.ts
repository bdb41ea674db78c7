import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { stringify } from 'yaml'
import { loadConfig } from '../../src/config/load.ts'
import { createLog } from '../../src/log/log.ts'
import { serve } from '../../src/serve/serve.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { marked, startMarkedLoad, startMarkedService } from '../support/reload-load.ts'
import { runCommand } from '../support/run-command.ts'
import { until } from '../support/until.ts'

async function newDirectory() {
  const directory = await mkdtemp(join(tmpdir(), 'postern-reload-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

describe('a reload', () => {
  test('300 times under load fails no request and mixes no configurations', async () => {
    const directory = await newDirectory()
    const [a, b, shared] = [
      await startMarkedService('a'),
      await startMarkedService('b'),
      await startMarkedService('s'),
    ]
    const configs = []
    for (const [mark, service] of [['a', a] as const, ['b', b] as const]) {
      const file = join(directory, `${mark}.yaml`)
      await writeFile(file, stringify(marked(directory, mark, service.origin, shared.origin)))
      configs.push(loadConfig({ file, env: {}, cwd: directory }))
    }
    const [first, second] = configs as [(typeof configs)[0], (typeof configs)[0]]
    const log = createLog('silent', new Writable({ write: (_, __, done) => done() }))
    const postern = await serve({ config: first, log })
    onTestFinished(() => postern.close())
    const load = startMarkedLoad(postern.publicPort)
    for (let round = 0; round < 300; round++) {
      await postern.apply(round % 2 === 0 ? second : first)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    const { marks, wrong } = await load.stop()

    expect(wrong).toEqual([])
    expect([...marks.keys()].sort()).toEqual(['a', 'b'])
    // Its settings never change: three clients need three connections, and keep them.
    expect(shared.accepted()).toBeLessThanOrEqual(3)
    expect(shared.open()).toBeGreaterThan(0)
    await until(() => b.open() === 0)
  })

  test('follows the file, keeps the current one when it is invalid, and names what needs a restart', async () => {
    const directory = await newDirectory()
    const [a, b, shared] = [
      await startMarkedService('a'),
      await startMarkedService('b'),
      await startMarkedService('s'),
    ]
    const file = join(directory, 'postern.yaml')
    const { logger: _, ...one } = marked(directory, 'a', a.origin, shared.origin) as Record<
      string,
      unknown
    >
    const { logger: __, ...other } = marked(directory, 'b', b.origin, shared.origin) as Record<
      string,
      unknown
    >
    const gateway = await startGatewayProcess(file, one)
    onTestFinished(() => gateway.kill())
    const served = async () =>
      JSON.parse(await (await fetch(`http://127.0.0.1:${gateway.publicPort}/x`)).text()).name
    const line = (text: string) => gateway.log.find(({ msg }) => msg === text)
    const verbose = async () => {
      const answer = await fetch(`http://127.0.0.1:${gateway.opsPort}/readyz?verbose`)
      return JSON.parse(await answer.text()).configuration
    }
    expect(await served()).toBe('a')
    const { revision } = await verbose()
    expect(revision).toMatch(/^c-[0-9a-f]{12}$/)

    await writeFile(file, 'routes: [{ path: 1')
    await until(() => line('configuration rejected; keeping the current one') !== undefined)
    expect(await served()).toBe('a')
    expect((await verbose()).lastError).toContain('postern.yaml')
    const ops = ['--ops', `http://127.0.0.1:${gateway.opsPort}`]
    const rejected = await runCommand(['status', ...ops])
    expect(rejected.code).toBe(1)
    expect(rejected.out).toMatch(/^ready +yes$/m)
    expect(rejected.out).toMatch(/^rejected +.*postern\.yaml/m)

    const wrong = { ...other, routes: [{ path: 'x', upstream: 'y' }], banana: 1 }
    await writeFile(file, stringify(wrong))
    const problemsOf = () =>
      gateway.log.findLast(({ problems }) => problems !== undefined)?.['problems']
    await until(() => String(problemsOf()).includes('banana'))
    const check = await runCommand(['config', 'check', file, '--no-files'])
    expect(problemsOf()).toEqual(check.err.trim().split('\n'))

    await writeFile(file, stringify({ ...other, ops: { port: 1 } }))
    await until(async () => (await served()) === 'b')
    await until(() => line('changed settings need a restart') !== undefined)
    expect(line('changed settings need a restart')).toMatchObject({
      settings: expect.arrayContaining(['ops.port']),
    })
    expect(line('configuration reloaded')).toMatchObject({ previous: revision })
    expect((await verbose()).lastError).toBeUndefined()
    const status = await runCommand(['status', ...ops, '--output', 'json'])
    expect(status.code).toBe(0)
    expect(JSON.parse(status.out)).toMatchObject({
      version: expect.any(String),
      mode: expect.any(String),
      ready: true,
      policy: { revision: expect.any(String) },
      configuration: {
        revision: (await verbose()).revision,
        needRestart: expect.arrayContaining(['ops.port']),
      },
    })
    const metrics = await (await fetch(`http://127.0.0.1:${gateway.opsPort}/metrics`)).text()
    expect(metrics).toContain(`postern_config_info{revision="${(await verbose()).revision}"} 1`)
    expect(metrics).toContain('postern_config_last_reload_success 1')
    expect(await gateway.stop()).toBe(0)
  })
})
