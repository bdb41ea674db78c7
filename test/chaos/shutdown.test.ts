import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { request, sendRaw } from '../support/raw-client.ts'
import { ok, startRecordingUpstream } from '../support/recording-upstream.ts'
import { testSecret, tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

async function start(shutdown: Readonly<Record<string, number>>) {
  const directory = await mkdtemp(join(tmpdir(), 'postern-end-'))
  const upstream = await startRecordingUpstream()
  const gateway = await startGatewayProcess(join(directory, 'postern.yaml'), {
    application: { host: '127.0.0.1', port: 0, dataDirectory: inject('sharedData') },
    ops: { port: 0 },
    jwt: { secret: testSecret },
    policy: { directory: join(process.cwd(), 'policies') },
    upstreams: { backend: { targets: [upstream.origin] } },
    routes: [{ path: '/', upstream: 'backend' }],
    shutdown,
  })
  onTestFinished(async () => {
    await gateway.stop()
    await upstream.close()
    await rm(directory, { recursive: true, force: true })
  })
  return { gateway, upstream }
}

const get = request('GET /slow', [`Authorization: Bearer ${tokenOf('admin')}`])

describe('a gateway that is told to end', () => {
  test('says so, finishes what is in flight, and ends with exit code 0', async () => {
    const { gateway, upstream } = await start({ graceMs: 3000, deadlineMs: 15_000 })
    upstream.answerWith((socket) => void setTimeout(() => socket.write(ok), 3500))
    const inFlight = sendRaw(gateway.publicPort, get, { quietMs: 15_000 })
    await until(() => upstream.requests.length === 1)

    const ended = gateway.stop()
    await pause(100)
    const ready = await fetch(`http://127.0.0.1:${gateway.opsPort}/readyz`)
    upstream.answerWith((socket) => socket.write(ok))
    const late = await sendRaw(gateway.publicPort, get)

    expect(ready.status).toBe(503)
    expect(late.answers.map((answer) => [answer.status, answer.header('connection')])).toEqual([
      [200, 'close'],
    ])
    expect((await inFlight).answers.map(({ status }) => status)).toEqual([200])
    expect(await ended).toBe(0)
  })

  test('ends by its deadline although an upstream never answers', async () => {
    const { gateway, upstream } = await start({ graceMs: 0, deadlineMs: 500 })
    upstream.answerWith(() => {})
    const hanging = sendRaw(gateway.publicPort, get, { quietMs: 10_000 })
    await until(() => upstream.requests.length === 1)

    expect(await gateway.stop()).toBe(0)
    expect((await hanging).closed).toBe(true)
  })
})
