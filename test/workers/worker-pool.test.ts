import cluster from 'node:cluster'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createLog } from '../../src/log/log.ts'
import { createAggregateMetrics } from '../../src/metrics/aggregate.ts'
import type { Start } from '../../src/workers/messages.ts'
import { createWatch } from '../../src/workers/watch.ts'
import { createWorkerPool } from '../../src/workers/worker-pool.ts'
import { until } from '../support/until.ts'

type Behaviour = '' | 'fails' | 'killed' | 'short-lived' | 'silent' | 'stays' | 'serves'

/** A pool of small workers in real processes; each is forked with the behaviour of that moment. */
function smallPool(first: Behaviour, { count = 2, told = new Promise<void>(() => {}) } = {}) {
  cluster.setupPrimary({ exec: join(import.meta.dirname, '..', 'support', 'small-worker.mjs') })
  const lines: Record<string, unknown>[] = []
  const log = createLog('info', { write: (line) => void lines.push(JSON.parse(line)) })
  const metrics = createAggregateMetrics()
  let behaviour = first
  let forks = 0
  const pool = createWorkerPool({
    count,
    metrics,
    log,
    shutdownBegun: told,
    exitCode: () => 0,
    start: { config: {} as Start['config'], isTerminal: false, ticketKeys: '' },
    fork() {
      forks++
      return cluster.fork({ SMALL_WORKER: behaviour })
    },
  })
  onTestFinished(() => pool.close(0, 0).catch(() => {}))
  return {
    ...pool,
    lines,
    log,
    metrics,
    forks: () => forks,
    behave(next: Behaviour) {
      behaviour = next
    },
    states: () => pool.slots.map(({ state }) => state()),
    pids: () => pool.slots.map(({ pid }) => pid()),
  }
}

describe('a pool', () => {
  test('has started when all of its workers listen', async () => {
    const pool = smallPool('', { count: 3 })

    await pool.start()

    expect(pool.states()).toEqual(['listening', 'listening', 'listening'])
    expect(pool.lines).toEqual([])
  })

  test('whose first worker fails starts no other and has its exit code', async () => {
    const pool = smallPool('fails', { count: 4 })

    await expect(pool.start()).rejects.toMatchObject({ name: 'StartEnded', exitCode: 3 })

    expect(pool.forks()).toBe(1)
  })

  test('whose first worker is killed at the start says so itself', async () => {
    const pool = smallPool('killed')

    await expect(pool.start()).rejects.toThrow('worker 1 exited before it was listening (SIGKILL)')
  })

  test('fills a slot at once, and later each time when that does not last', async () => {
    const pool = smallPool('')
    await pool.start()

    pool.behave('short-lived')
    pool.slots[0]?.kill()
    await until(() => pool.lines.filter(({ inMs }) => inMs !== undefined).length === 4)

    const waits = pool.lines.flatMap(({ inMs }) => (inMs === undefined ? [] : [inMs]))
    expect(waits).toEqual([0, 250, 500, 1000])
    expect(pool.states()[1]).toBe('listening')
    expect(pool.restarts()).toBe(3)
  })

  test('keeps what a worker counted when another takes its slot', async () => {
    const pool = smallPool('')
    await pool.start()
    const watch = createWatch(pool.slots, pool.metrics, pool.log)
    onTestFinished(watch.close)
    const total = () => pool.metrics.joined([])[0]?.values[0]?.value
    await watch.collect()
    await watch.collect()
    expect(total()).toBe(4)

    const [killed] = pool.pids()
    pool.slots[0]?.kill()
    await until(() => pool.restarts() === 1)

    expect(total()).toBe(4)
    await until(() => pool.states()[0] === 'listening' && pool.pids()[0] !== killed)
    await watch.collect()
    expect(total()).toBe(6)
  })

  test('replaces nobody once it is told to end, although one ends before it is heard', async () => {
    const pool = smallPool('')
    await pool.start()

    pool.slots[0]?.close(5000)
    await until(() => pool.states()[0] === 'waiting')
    await pool.close(5000, 0)

    await pause(400)
    expect(pool.forks()).toBe(2)
  })

  test('ends in order although one has just begun and cannot hear yet', async () => {
    const pool = smallPool('')
    await pool.start()
    pool.slots[1]?.kill()
    await until(() => pool.states()[1] === 'starting')

    await pool.close(20_000, 0)

    expect(pool.pids()).toEqual([undefined, undefined])
  })

  test('ends in order, and kills and names the one that does not', async () => {
    const pool = smallPool('')
    await pool.start()
    pool.behave('stays')
    pool.slots[1]?.kill()
    await until(() => pool.restarts() === 1 && pool.states()[1] === 'listening')

    await expect(pool.close(300, 0)).rejects.toThrow('did not shut down cleanly: worker 2')

    expect(pool.pids()).toEqual([undefined, undefined])
  })
})

describe('a connection on its way to a worker', () => {
  /** A client that waits: what it got, once its connection is closed. */
  function openClient(port: number) {
    const client = { text: '', closed: false }
    const socket = connect(port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      client.text += chunk
    })
    socket.on('close', () => {
      client.closed = true
    })
    return client
  }

  test('is closed when that worker is killed, and one to another worker is not', async () => {
    const pool = smallPool('serves')
    const { publicPort } = await pool.start()
    const pids = pool.pids().map((pid) => pid ?? 0)
    for (const pid of pids) process.kill(pid, 'SIGSTOP')
    onTestFinished(() => {
      // It has been replaced, if the test ended well.
      if (pool.pids()[1] === pids[1]) process.kill(pids[1] ?? 0, 'SIGCONT')
    })
    const clients = [openClient(publicPort), openClient(publicPort)]
    await pause(300)
    expect(clients.some(({ closed }) => closed)).toBe(false)

    pool.behave('')
    pool.slots[0]?.kill()
    await until(() => clients.some(({ closed }) => closed))
    expect(clients.filter(({ closed }) => closed)).toEqual([{ text: '', closed: true }])
    // Longer than one whose worker has exited is kept.
    await pause(1000)
    process.kill(pids[1] ?? 0, 'SIGCONT')

    await until(() => clients.every(({ closed }) => closed))
    expect(clients.map(({ text }) => text).sort()).toEqual(['', 'hello'])
  })
})

describe('a worker that answers nothing', () => {
  test('is killed after some questions, and replaced', async () => {
    const pool = smallPool('', { count: 2 })
    await pool.start()
    pool.behave('silent')
    pool.slots[0]?.kill()
    await until(() => pool.restarts() === 1 && pool.states()[0] === 'listening')
    pool.behave('')
    const silent = pool.pids()[0]

    const watch = (maxMissed: number) => {
      const made = createWatch(pool.slots, pool.metrics, pool.log, { everyMs: 50, maxMissed })
      onTestFinished(made.close)
      return made
    }
    const patient = watch(1000)
    const [slot] = pool.slots
    await until(() => slot !== undefined && patient.isSilent(slot))
    patient.close()
    expect(pool.pids()[0]).toBe(silent)

    watch(2)
    await until(() => pool.states()[0] === 'listening' && pool.pids()[0] !== silent)
    expect(pool.lines.map(({ msg }) => msg)).toContain('killing unresponsive worker')
    await until(() => pool.states()[1] === 'listening')
  })
})
