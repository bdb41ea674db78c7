import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type ClientHttp2Session, connect, constants } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Values } from '../support/chart.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { loneGatewayConfig } from '../support/lone-gateway-config.ts'
import { request, sendRaw } from '../support/raw-client.ts'
import { freePort } from '../support/redis-server.ts'
import { type Container, podOf, preStop, type SidecarPod, sidecar } from '../support/sidecar-pod.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

/** What callers, Postern and the service speak. */
type Protocol = 'HTTP/1.1' | 'HTTP/2'

/** A service that answers after a while, and ends at once when it is told to. */
const service = `
  const { createServer } = require(process.argv[2] === 'HTTP/2' ? 'node:http2' : 'node:http')
  createServer((_, answer) => setTimeout(() => answer.end('{"ok":true}'), 200))
    .listen(Number(process.argv[1]), '127.0.0.1', () => console.log('listening'))
`

async function startService(
  protocol: Protocol,
): Promise<{ readonly port: number; readonly child: ChildProcess }> {
  const port = await freePort()
  const stdio = ['ignore', 'pipe', 'inherit'] as const
  const args = ['-e', service, String(port), protocol]
  const child = spawn(process.execPath, args, { stdio: [...stdio] })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout as NonNullable<typeof child.stdout>, 'data')
  return { port, child }
}

interface Ending {
  readonly signal: () => void
  readonly ended: Promise<unknown>
}

/**
 * Ends a pod as the kubelet does: every container gets its hook and then SIGTERM, all at the same
 * time; when they have ended, the sidecars get theirs, the last one first.
 */
async function endPod(pod: SidecarPod, processes: Readonly<Record<string, Ending>>): Promise<void> {
  const end = async ({ name, lifecycle }: Container) => {
    const [program, ...args] = lifecycle?.preStop?.exec.command ?? []
    if (program !== undefined) await once(spawn(program, args), 'exit')
    processes[name]?.signal()
    await processes[name]?.ended
  }
  await Promise.all(pod.containers.map(end))
  const sidecars = (pod.initContainers ?? []).filter((one) => one.restartPolicy === 'Always')
  for (const one of sidecars.toReversed()) await end(one)
}

interface Caller {
  /** The status that one call got, or the code of its error. */
  call(): Promise<number | string | undefined>
  /** How often it was told to use another connection. */
  readonly goaways: number
  close(): void
}

/** Each call on a connection of its own. */
function createCaller(port: number): Caller {
  const bytes = request('GET /a', [authorization])
  return {
    async call() {
      const { answers } = await sendRaw(port, bytes, { quietMs: 60_000 })
      return answers[0]?.status
    },
    goaways: 0,
    close() {},
  }
}

const unsent = 'unsent'

/**
 * All calls on one connection until GOAWAY; then on another one. Node's client reads GOAWAY before it
 * sends a call that was just made, and refuses that itself. Such a call is made on the next connection,
 * as clients of gRPC do (RFC 9113 8.7); one that was sent never is.
 */
function createHttp2Caller(port: number): Caller {
  let session: ClientHttp2Session | undefined
  let goaways = 0
  const [name = '', value = ''] = authorization.split(': ')

  function openSession(): ClientHttp2Session {
    const opened = connect(`http://127.0.0.1:${port}`)
    // The call reports it.
    opened.on('error', () => {})
    opened.once('goaway', () => (goaways += 1))
    return opened
  }

  async function callOnce() {
    if (session === undefined || session.closed || session.destroyed) session = openSession()
    const stream = session.request({ ':path': '/a', [name.toLowerCase()]: value })
    try {
      const [head] = await once(stream, 'response')
      stream.resume()
      await once(stream, 'end')
      return head[':status']
    } catch (error) {
      const isRefused = stream.rstCode === constants.NGHTTP2_REFUSED_STREAM
      // Without a number, it still waited for its connection.
      if (isRefused || stream.id === undefined) return unsent
      return (error as NodeJS.ErrnoException).code
    }
  }

  return {
    async call() {
      let status = await callOnce()
      for (let retry = 0; status === unsent && retry < 3; retry++) status = await callOnce()
      return status
    },
    get goaways() {
      return goaways
    },
    close() {
      session?.destroy()
    },
  }
}

const authorization = `Authorization: Bearer ${tokenOf('admin')}`

/** Ends the pod under load, and counts what the callers got while a balancer may still send them. */
async function callsDuringEnd(values: Values, protocol: Protocol) {
  const isHttp2 = protocol === 'HTTP/2'
  const times = ['config.shutdown.graceMs=1500', 'config.shutdown.deadlineMs=4000']
  const pod = podOf({ ...values, set: [...(values.set ?? []), ...times] })
  const { port, child } = await startService(protocol)
  const directory = await mkdtemp(join(tmpdir(), 'postern-pod-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const upstream = `http://127.0.0.1:${port}`
  const { application, ...config } = loneGatewayConfig(directory, upstream, {
    shutdown: { graceMs: 1500, idleMs: 200, deadlineMs: 4000 },
    upstreams: { backend: { targets: [upstream], protocol: isHttp2 ? 'h2c' : 'http1' } },
  })
  const gateway = await startGatewayProcess(join(directory, 'postern.yaml'), {
    ...config,
    application: { ...application, h2c: isHttp2 },
  })
  onTestFinished(() => gateway.kill())

  const statuses: (number | string | undefined)[] = []
  let stopped = false
  const create = isHttp2 ? createHttp2Caller : createCaller
  const callers = Array.from({ length: 4 }, () => create(gateway.publicPort))
  onTestFinished(() => callers.forEach((caller) => void caller.close()))
  const lane = async (caller: Caller) => {
    while (!stopped) statuses.push(await caller.call())
  }
  const load = Promise.all(callers.map(lane))
  await until(() => statuses.length > 4)
  let serviceEnded = false
  child.once('exit', () => {
    serviceEnded = true
  })
  const ended = endPod(pod, {
    postern: { signal: () => gateway.signal('SIGTERM'), ended: gateway.exit },
    app: { signal: () => void child.kill('SIGTERM'), ended: once(child, 'exit') },
  })
  await until(
    async () => (await fetch(`http://127.0.0.1:${gateway.opsPort}/readyz`)).status === 503,
  )
  // What a balancer takes to notice, which is less than the grace.
  await pause(500)
  stopped = true
  await load
  await gateway.exit
  const outlived = !serviceEnded
  await ended
  return {
    failed: statuses.filter((status) => status !== 200),
    outlived,
    moved: callers.every(({ goaways }) => goaways > 0),
    refused: gateway.log.filter(({ reason }) => reason === 'refused').length,
  }
}

const protocols: readonly Protocol[] = ['HTTP/1.1', 'HTTP/2']

describe.each(protocols)('a rollout of a pod with the service behind Postern, %s', (protocol) => {
  test.each([
    ['native', []],
    ['preStop', preStop],
  ])('fails no request: order %s', async (_, set) => {
    expect(await callsDuringEnd({ ...sidecar, set }, protocol)).toEqual({
      failed: [],
      outlived: true,
      // Before the gateway ends, callers of HTTP/2 are told to use another one.
      moved: protocol === 'HTTP/2',
      refused: 0,
    })
  })

  test('would, if both ended together', async () => {
    const set = ['appContainers=null', 'extraContainers[0].name=app', 'extraContainers[0].image=x']

    const { failed, outlived } = await callsDuringEnd({ ...sidecar, set }, protocol)

    expect(outlived).toBe(false)
    expect(failed).toContain(502)
  })
})
