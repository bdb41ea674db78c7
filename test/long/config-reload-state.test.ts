import { createHook } from 'node:async_hooks'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, onTestFinished, test } from 'vitest'
import { stringify } from 'yaml'
import { loadConfig } from '../../src/config/load.ts'
import { configRevision } from '../../src/config/reload.ts'
import { redacted } from '../../src/config/secrets.ts'
import { createLog } from '../../src/log/log.ts'
import { serve } from '../../src/serve/serve.ts'
import { loneGatewayConfig, type Sections } from '../support/lone-gateway-config.ts'
import { startRecordingUpstream } from '../support/recording-upstream.ts'
import { until } from '../support/until.ts'
import { echoing } from '../support/websocket-upstream.ts'

const open = { access: 'public', reason: 'test' }

async function newDirectory() {
  const directory = await mkdtemp(join(tmpdir(), 'postern-reload-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

async function configOf(directory: string, sections: Sections) {
  const { application, ...rest } = sections
  const base = loneGatewayConfig(directory, 'http://127.0.0.1:9', rest)
  const file = join(directory, 'postern.yaml')
  const all = { ...base, application: { ...base.application, ...Object(application) } }
  await writeFile(file, stringify(all))
  return loadConfig({ file, env: {}, cwd: directory })
}

async function startEcho() {
  const upstream = await startRecordingUpstream()
  onTestFinished(() => upstream.close())
  upstream.answerWith(echoing())
  return upstream.origin
}

async function startPlain() {
  const server = createServer((incoming, reply) => incoming.resume().on('end', () => reply.end()))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function openSocket(url: string) {
  const socket = new WebSocket(url)
  await once(socket, 'open')
  onTestFinished(() => socket.close())
  return {
    async echo(text: string): Promise<unknown> {
      const answer = once(socket, 'message')
      socket.send(text)
      return (await answer)[0].data
    },
    isOpen: () => socket.readyState === WebSocket.OPEN,
  }
}

describe('a reload', () => {
  test('keeps WebSockets and counters, and changes limits, refusals, trusted proxies and log level', async () => {
    const directory = await newDirectory()
    const [kept, removed] = [await startEcho(), await startEcho()]
    const plain = { targets: [await startPlain()] }
    const routes = [
      { path: '/kept', upstream: 'kept', ...open },
      { path: '/private', upstream: 'kept' },
      { path: '/plain', upstream: 'plain', ...open },
      { path: '/near', respond: { body: 'near' }, addresses: { allow: ['10.9.9.9/32'] }, ...open },
      {
        path: '/scarce',
        respond: { body: 'scarce' },
        limit: { requests: 3, seconds: 3600, by: 'address' },
        ...open,
      },
    ]
    const first = await configOf(directory, {
      upstreams: { plain, kept: { targets: [kept] }, removed: { targets: [removed] } },
      routes: [...routes, { path: '/removed', upstream: 'removed', ...open }],
      logger: { level: 'warn' },
    })
    const second = await configOf(directory, {
      application: { trustedProxies: ['127.0.0.1/32'] },
      upstreams: { plain, kept: { targets: [kept] } },
      routes,
      refusals: { status: 'real' },
      limits: { bodyBytes: 10, targetBytes: 512 },
      logger: { level: 'info' },
    })
    const lines: string[] = []
    const sink = new Writable({
      write(chunk, _, done) {
        lines.push(String(chunk))
        done()
      },
    })
    const postern = await serve({ config: first, log: createLog('warn', sink) })
    onTestFinished(() => postern.close())
    const host = `127.0.0.1:${postern.publicPort}`
    const call = async (path: string, headers: Record<string, string> = {}, body?: string) => {
      const init = body === undefined ? { headers } : { headers, body, method: 'POST' }
      const answer = await fetch(`http://${host}${path}`, init)
      return { status: answer.status, text: await answer.text() }
    }
    const logged = (path: string) => lines.some((line) => line.includes(`"${path}"`))
    const sockets = [
      await openSocket(`ws://${host}/kept`),
      await openSocket(`ws://${host}/removed`),
    ]
    const forwarded = { 'x-forwarded-for': '10.9.9.9' }

    expect((await call('/scarce')).text).toBe('scarce')
    expect((await call('/scarce')).text).toBe('scarce')
    expect(await call('/private/a')).toMatchObject({ status: 200 })
    expect((await call('/near', forwarded)).text).not.toBe('near')
    expect(logged('/private/a')).toBe(false)
    const [long, large] = [`/near/${'a'.repeat(600)}`, 'a'.repeat(11)]
    expect((await call(long)).status).not.toBe(414)
    expect((await call('/plain', {}, large)).status).toBe(200)

    for (let round = 0; round < 20; round++) {
      await postern.apply(round % 2 === 0 ? second : first)
      for (const socket of sockets) expect(await socket.echo(`${round}`)).toBe(`${round}`)
    }
    await postern.apply(second)

    expect(await call('/private/b')).toMatchObject({ status: 401 })
    expect((await call('/near', forwarded)).text).toBe('near')
    expect((await call(long)).status).toBe(414)
    expect((await call('/plain', {}, large)).status).toBe(413)
    await until(() => logged('/private/b'))
    // Another caller by the new trusted proxies; the direct one has used two of three.
    expect((await call('/scarce', forwarded)).text).toBe('scarce')
    expect((await call('/scarce')).text).toBe('scarce')
    expect(await call('/scarce')).toMatchObject({ status: 429 })
    expect(sockets.map((socket) => socket.isOpen())).toEqual([true, true])
  })

  test('300 times leaves no timers and no memory of old generations', async () => {
    const directory = await newDirectory()
    const [a, b] = [await startPlain(), await startPlain()]
    const sections = (origin: string, path: string): Sections => ({
      upstreams: {
        named: {
          // A name, which is looked up again and again.
          targets: [origin.replace('127.0.0.1', 'localhost')],
          healthCheck: { path: '/', intervalMs: 1000 },
        },
      },
      routes: Array.from({ length: 100 }, (_, at) => {
        return { path: `${path}${at}`, upstream: 'named', ...open }
      }),
      logger: { level: 'silent' },
    })
    const one = await configOf(directory, sections(a, '/a'))
    const other = await configOf(directory, sections(b, '/b'))
    const timers = new Set<number>()
    const hook = createHook({
      init: (id, type) => void (type === 'Timeout' && timers.add(id)),
      destroy: (id) => void timers.delete(id),
    }).enable()
    onTestFinished(() => void hook.disable())
    const log = createLog('silent', new Writable({ write: (_, __, done) => done() }))
    const postern = await serve({ config: one, log })
    onTestFinished(() => postern.close())
    setFlagsFromString('--expose-gc')
    const collect: () => void = runInNewContext('gc')

    async function reload(times: number): Promise<number> {
      for (let round = 0; round < times; round++) {
        const [config, path] = round % 2 === 0 ? [other, '/b1'] : [one, '/a1']
        await postern.apply(config)
        const body = round % 10 === 0 ? 'x'.repeat(10_000) : undefined
        const url = `http://127.0.0.1:${postern.publicPort}${path}`
        await (await fetch(url, body === undefined ? {} : { method: 'POST', body })).text()
      }
      await new Promise((resolve) => setImmediate(resolve))
      collect()
      return process.memoryUsage().heapUsed
    }
    const before = await reload(50)
    const few = timers.size
    const after = await reload(300)

    // Requests and checks in progress have some of their own.
    await until(() => timers.size <= few + 20)
    // A generation with 100 routes that stays takes more than 20 kB.
    expect(after - before).toBeLessThan(300 * 10_000)
  })
})

describe('a target with a weight', () => {
  test('is printed in full, and is part of the revision', async () => {
    const directory = await newDirectory()
    const weighted = (weight: number) =>
      configOf(directory, {
        upstreams: { backend: { targets: [{ url: 'http://127.0.0.1:9', weight }, 'http://a:1'] } },
      })
    const [light, heavy] = [await weighted(1), await weighted(5)]

    expect(redacted(heavy)).toMatchObject({
      jwt: { secret: expect.not.stringContaining(heavy.jwt.secret ?? '') },
      upstreams: { backend: { targets: [{ url: 'http://127.0.0.1:9', weight: 5 }, 'http://a:1'] } },
    })
    expect(configRevision(light)).not.toBe(configRevision(heavy))
  })
})
