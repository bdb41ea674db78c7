import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { stringify } from 'yaml'
import { loadConfig } from '../../src/config/load.ts'
import { createLog } from '../../src/log/log.ts'
import { serve } from '../../src/serve/serve.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { loneGatewayConfig } from '../support/lone-gateway-config.ts'
import { runCommand } from '../support/run-command.ts'
import { until } from '../support/until.ts'

/** A service whose responses say who it is, what it got, and by which configuration. */
async function startService(name: string) {
  let accepted = 0
  let open = 0
  const server = createServer((incoming, reply) => {
    let bytes = 0
    incoming.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    incoming.on('end', () => {
      const marks = ['a', 'b'].filter((mark) => incoming.headers[`x-id-${mark}`] !== undefined)
      reply.end(JSON.stringify({ name, marks, bytes }))
    })
  })
  server.keepAliveTimeout = 600_000
  server.on('connection', (socket) => {
    accepted++
    open++
    socket.on('close', () => open--)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { origin: `http://127.0.0.1:${port}`, accepted: () => accepted, open: () => open }
}

async function newDirectory() {
  const directory = await mkdtemp(join(tmpdir(), 'postern-reload-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

const open = { access: 'public', reason: 'test' }

/** Everything that tells the configurations apart carries the mark. */
function marked(directory: string, mark: string, own: string, shared: string) {
  return loneGatewayConfig(directory, own, {
    upstreams: { [`own-${mark}`]: { targets: [own] }, shared: { targets: [shared] } },
    routes: [
      { path: '/', upstream: `own-${mark}`, ...open },
      { path: '/shared', upstream: 'shared', ...open },
    ],
    headers: { requestId: `X-Id-${mark}` },
    cors: { origins: ['https://app.test'], exposeHeaders: [`X-${mark}`] },
    logger: { level: 'silent' },
  })
}

describe('a reload', () => {
  test('300 times under load fails no request and mixes no configurations', async () => {
    const directory = await newDirectory()
    const [a, b, shared] = [
      await startService('a'),
      await startService('b'),
      await startService('s'),
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
    const agent = new Agent({ keepAlive: true, maxSockets: 8 })
    onTestFinished(() => agent.destroy())

    async function call(path: string, body: Buffer | undefined) {
      const outgoing = request({
        agent,
        port: postern.publicPort,
        host: '127.0.0.1',
        path,
        method: body === undefined ? 'GET' : 'POST',
        headers: { origin: 'https://app.test', ...(body && { 'content-length': body.length }) },
      })
      // In two parts, so that a reload comes between them.
      outgoing.write(body?.subarray(0, 100_000) ?? '')
      if (body !== undefined) await new Promise((resolve) => setTimeout(resolve, 5))
      outgoing.end(body?.subarray(100_000))
      const [answer] = await once(outgoing, 'response')
      let text = ''
      for await (const chunk of answer) text += chunk
      return {
        status: answer.statusCode,
        exposed: answer.headers['access-control-expose-headers'],
        text,
      }
    }

    let isDone = false
    const seen = new Map<string, number>()
    const wrong: unknown[] = []
    async function client(path: string, body: Buffer | undefined) {
      while (!isDone) {
        const { status, exposed, text } = await call(path, body)
        const { name, marks, bytes } = status === 200 ? JSON.parse(text) : {}
        const mark = String(marks)
        const isOne = exposed === `X-${mark}` && (name === mark || name === 's')
        if (status !== 200 || !isOne || bytes !== (body?.length ?? 0))
          wrong.push({ status, exposed, text })
        seen.set(mark, (seen.get(mark) ?? 0) + 1)
      }
    }
    const upload = Buffer.alloc(200_000)
    const clients = ['/x', '/y', '/shared/x', '/shared/y'].map((path) => client(path, undefined))
    clients.push(client('/upload', upload), client('/shared/upload', upload))
    for (let round = 0; round < 300; round++) {
      await postern.apply(round % 2 === 0 ? second : first)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    isDone = true
    await Promise.all(clients)

    expect(wrong).toEqual([])
    expect([...seen.keys()].sort()).toEqual(['a', 'b'])
    // Its settings never change: three clients need three connections, and keep them.
    expect(shared.accepted()).toBeLessThanOrEqual(3)
    expect(shared.open()).toBeGreaterThan(0)
    await until(() => b.open() === 0)
  }, 60_000)

  test('follows the file, keeps the current one when it is invalid, and names what needs a restart', async () => {
    const directory = await newDirectory()
    const [a, b, shared] = [
      await startService('a'),
      await startService('b'),
      await startService('s'),
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
  }, 60_000)
})
