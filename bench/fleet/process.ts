import { setTimeout as pause } from 'node:timers/promises'
import { type FleetGateway, startFleetGateway } from './gateway.ts'
import type { FromFleet, ToFleet } from './messages.ts'

/* A process with many gateways, as far as Redis is concerned. */

/** How many gateways start at once in this process. */
const TOGETHER = 5

const gateways: FleetGateway[] = []
const say = (message: FromFleet) => process.send?.(message)
const now = () => performance.timeOrigin + performance.now()

/** Notes when each gateway here has got a thing, and says so when the last one has. */
function counting(kind: 'policy' | 'revoked', total: () => number) {
  const times = new Map<string, number[]>()
  return (name: string) => {
    const at = times.get(name) ?? []
    times.set(name, at)
    at.push(now())
    if (at.length === total()) say({ kind, name, at })
  }
}

let expected = 0
const gotPolicy = counting('policy', () => expected)
const gotRevoked = counting('revoked', () => expected)

async function start(message: Extract<ToFleet, { kind: 'start' }>): Promise<void> {
  const { url, prefix, from, count } = message
  expected = count
  // A few at a time, as a rollout does: this process has one core for all of them.
  for (let at = 0; at < count; at += TOGETHER) {
    const batch = Array.from({ length: Math.min(TOGETHER, count - at) }, (_, index) =>
      startFleetGateway({
        url,
        prefix,
        number: from + at + index,
        onPolicy: gotPolicy,
        onRevoked: gotRevoked,
      }),
    )
    gateways.push(...(await Promise.all(batch)))
    say({ kind: 'progress', started: gateways.length })
  }
  // On a machine without time to spare an answer comes too late now and then: once each is enough.
  const wanting = new Set(gateways)
  while (wanting.size > 0) {
    for (const gateway of wanting) if (gateway.isCurrent()) wanting.delete(gateway)
    await pause(50)
  }
  say({ kind: 'started', rssMb: Math.round(process.memoryUsage.rss() / 1e6) })
}

/** Every gateway counts every half second, as one under load does; not all in step. */
async function count(seconds: number): Promise<void> {
  const end = performance.now() + seconds * 1000
  await Promise.all(
    gateways.map(async (gateway) => {
      await pause(Math.random() * 500)
      while (performance.now() < end) {
        await gateway.count(Math.floor(Date.now() / 60_000))
        await pause(500)
      }
    }),
  )
  say({ kind: 'counted' })
}

/** Waits until all gateways here have noticed that Redis is lost, then until all have it again. */
async function watch(): Promise<void> {
  const lost = new Set<FleetGateway>()
  while (lost.size < gateways.length) {
    for (const gateway of gateways) if (!gateway.isCurrent()) lost.add(gateway)
    await pause(50)
  }
  say({ kind: 'lost' })
  const at = new Map<FleetGateway, number>()
  while (at.size < gateways.length) {
    for (const gateway of gateways) {
      if (!at.has(gateway) && gateway.isCurrent()) at.set(gateway, now())
    }
    await pause(20)
  }
  say({ kind: 'current', at: [...at.values()] })
}

process.on('message', (message: ToFleet) => {
  if (message.kind === 'start') void start(message)
  if (message.kind === 'count') void count(message.seconds)
  if (message.kind === 'watch') void watch()
  if (message.kind === 'stop') {
    void Promise.all(gateways.map(({ close }) => close())).then(() => process.exit(0))
  }
})
process.on('disconnect', () => process.exit(1))
