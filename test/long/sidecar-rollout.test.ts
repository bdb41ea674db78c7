import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
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

/** A service that answers after a while, and ends at once when it is told to. */
const service = `
  const { createServer } = require('node:http')
  createServer((_, answer) => setTimeout(() => answer.end('{"ok":true}'), 200))
    .listen(Number(process.argv[1]), '127.0.0.1', () => console.log('listening'))
`

async function startService(): Promise<{ readonly port: number; readonly child: ChildProcess }> {
  const port = await freePort()
  const stdio = ['ignore', 'pipe', 'inherit'] as const
  const child = spawn(process.execPath, ['-e', service, String(port)], { stdio: [...stdio] })
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

/** Ends the pod under load, and counts what the callers got while a balancer may still send them. */
async function callsDuringEnd(values: Values) {
  const times = ['config.shutdown.graceMs=1500', 'config.shutdown.deadlineMs=4000']
  const pod = podOf({ ...values, set: [...(values.set ?? []), ...times] })
  const { port, child } = await startService()
  const directory = await mkdtemp(join(tmpdir(), 'postern-pod-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const gateway = await startGatewayProcess(
    join(directory, 'postern.yaml'),
    loneGatewayConfig(directory, `http://127.0.0.1:${port}`, {
      shutdown: { graceMs: 1500, idleMs: 200, deadlineMs: 4000 },
    }),
  )
  onTestFinished(() => gateway.kill())

  const statuses: (number | undefined)[] = []
  let stopped = false
  const bytes = request('GET /a', [`Authorization: Bearer ${tokenOf('admin')}`])
  const lane = async () => {
    while (!stopped) {
      const { answers } = await sendRaw(gateway.publicPort, bytes, { quietMs: 60_000 })
      statuses.push(answers[0]?.status)
    }
  }
  const load = Promise.all(Array.from({ length: 4 }, lane))
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
  return { failed: statuses.filter((status) => status !== 200), outlived }
}

describe('a rollout of a pod with the service behind Postern', () => {
  test.each([
    ['native', []],
    ['preStop', preStop],
  ])('fails no request: order %s', async (_, set) => {
    expect(await callsDuringEnd({ ...sidecar, set })).toEqual({ failed: [], outlived: true })
  })

  test('would, if both ended together', async () => {
    const set = ['appContainers=null', 'extraContainers[0].name=app', 'extraContainers[0].image=x']

    const { failed, outlived } = await callsDuringEnd({ ...sidecar, set })

    expect(outlived).toBe(false)
    expect(failed).toContain(502)
  })
})
