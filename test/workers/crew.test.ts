import cluster from 'node:cluster'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createLog } from '../../src/log/log.ts'
import { createWholeFigures } from '../../src/metrics/aggregate.ts'
import type { Start } from '../../src/workers/messages.ts'
import { createWatch } from '../../src/workers/watch.ts'
import { createCrew } from '../../src/workers/worker-pool.ts'
import { until } from '../support/until.ts'

type Behaviour = '' | 'fails' | 'killed' | 'short-lived' | 'silent' | 'stays'

/** A crew of small workers in real processes; each is forked with the behaviour of that moment. */
function smallCrew(first: Behaviour, { count = 2, told = new Promise<void>(() => {}) } = {}) {
  cluster.setupPrimary({ exec: join(import.meta.dirname, '..', 'support', 'small-worker.mjs') })
  const lines: Record<string, unknown>[] = []
  const log = createLog('info', { write: (line) => void lines.push(JSON.parse(line)) })
  const figures = createWholeFigures()
  let behaviour = first
  let forks = 0
  const crew = createCrew({
    count,
    figures,
    log,
    told,
    exitCode: () => 0,
    start: { config: {} as Start['config'], isTerminal: false, ticketKeys: '' },
    fork() {
      forks++
      return cluster.fork({ SMALL_WORKER: behaviour })
    },
  })
  onTestFinished(() => crew.close(0, 0).catch(() => {}))
  return {
    ...crew,
    lines,
    log,
    figures,
    forks: () => forks,
    behave(next: Behaviour) {
      behaviour = next
    },
    states: () => crew.places.map(({ state }) => state()),
    pids: () => crew.places.map(({ pid }) => pid()),
  }
}

describe('a crew', () => {
  test('has started when all of its workers listen', async () => {
    const crew = smallCrew('', { count: 3 })

    await crew.start()

    expect(crew.states()).toEqual(['listening', 'listening', 'listening'])
    expect(crew.lines).toEqual([])
  })

  test('whose first worker fails starts no other and has its exit code', async () => {
    const crew = smallCrew('fails', { count: 4 })

    await expect(crew.start()).rejects.toMatchObject({ name: 'StartEnded', exitCode: 3 })

    expect(crew.forks()).toBe(1)
  })

  test('whose first worker is killed at the start says so itself', async () => {
    const crew = smallCrew('killed')

    await expect(crew.start()).rejects.toThrow('worker 1 exited before it was listening (SIGKILL)')
  })

  test('fills a place at once, and later each time when that does not last', async () => {
    const crew = smallCrew('')
    await crew.start()

    crew.behave('short-lived')
    crew.places[0]?.kill()
    await until(() => crew.lines.filter(({ inMs }) => inMs !== undefined).length === 4)

    const waits = crew.lines.flatMap(({ inMs }) => (inMs === undefined ? [] : [inMs]))
    expect(waits).toEqual([0, 250, 500, 1000])
    expect(crew.states()[1]).toBe('listening')
    expect(crew.restarts()).toBe(3)
  })

  test('keeps what a worker counted when another takes its place', async () => {
    const crew = smallCrew('')
    await crew.start()
    const watch = createWatch(crew.places, crew.figures, crew.log)
    onTestFinished(watch.close)
    const total = () => crew.figures.joined([])[0]?.values[0]?.value
    await watch.collect()
    await watch.collect()
    expect(total()).toBe(4)

    const [killed] = crew.pids()
    crew.places[0]?.kill()
    await until(() => crew.restarts() === 1)

    expect(total()).toBe(4)
    await until(() => crew.states()[0] === 'listening' && crew.pids()[0] !== killed)
    await watch.collect()
    expect(total()).toBe(6)
  })

  test('replaces nobody once it is told to end, although one ends before it is heard', async () => {
    const crew = smallCrew('')
    await crew.start()

    crew.places[0]?.close(5000)
    await until(() => crew.states()[0] === 'waiting')
    await crew.close(5000, 0)

    await pause(400)
    expect(crew.forks()).toBe(2)
  })

  test('ends in order although one has just begun and cannot hear yet', async () => {
    const crew = smallCrew('')
    await crew.start()
    crew.places[1]?.kill()
    await until(() => crew.states()[1] === 'starting')

    await crew.close(20_000, 0)

    expect(crew.pids()).toEqual([undefined, undefined])
  })

  test('ends in order, and kills and names the one that does not', async () => {
    const crew = smallCrew('')
    await crew.start()
    crew.behave('stays')
    crew.places[1]?.kill()
    await until(() => crew.restarts() === 1 && crew.states()[1] === 'listening')

    await expect(crew.close(300, 0)).rejects.toThrow('did not shut down cleanly: worker 2')

    expect(crew.pids()).toEqual([undefined, undefined])
  })
})

describe('a worker that answers nothing', () => {
  test('is killed after some questions, and replaced', async () => {
    const crew = smallCrew('', { count: 2 })
    await crew.start()
    crew.behave('silent')
    crew.places[0]?.kill()
    await until(() => crew.restarts() === 1 && crew.states()[0] === 'listening')
    crew.behave('')
    const silent = crew.pids()[0]

    const watch = createWatch(crew.places, crew.figures, crew.log, { everyMs: 50, mostMissed: 2 })
    onTestFinished(watch.close)
    const [place] = crew.places
    await until(() => place !== undefined && watch.isSilent(place))

    await until(() => crew.states()[0] === 'listening' && crew.pids()[0] !== silent)
    expect(crew.lines.map(({ msg }) => msg)).toContain('killing unresponsive worker')
    expect(crew.states()[1]).toBe('listening')
  })
})
