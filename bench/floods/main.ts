// HTTP/2 floods against Postern, nginx and Envoy, one at a time: what they take of CPU and memory, when
// the server ends the connection, and what a good client on other connections notices.
import { mkdtemp, rm, truncate } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { rounded } from '../console/figures.ts'
import { directoryFor } from '../http2/peers.ts'
import type { Server } from '../run/background.ts'
import { buildPostern } from '../run/build.ts'
import { describeCheckout, describeMachine } from '../run/machine.ts'
import { untilQuiet } from '../run/measure.ts'
import { checkout } from '../run/places.ts'
import { cpuSecondsOf, treeOf, usageOf } from '../run/processes.ts'
import { createTokens, permitted } from '../run/rules.ts'
import { createStores } from '../run/stores.ts'
import { asMarkdown, asText } from '../run/tables.ts'
import { startUpstream } from '../run/upstream.ts'
import { figuresOf, type Sample, tablesOf } from './figures.ts'
import { createKinds } from './kinds.ts'
import { createServers } from './servers.ts'
import { startWorkers } from './workers.ts'

const usage = `npm run bench:floods -- [--rounds N] [--seconds N] [--rate N] [--connections N] [--only TEXT] [--output text|markdown|json]

  --rounds N        times that each server gets each flood (1)
  --seconds N       length of a flood (3)
  --rate N          steps of a flood a second, over all connections (20000)
  --connections N   connections of the attacker (8)
  --only TEXT       floods whose name has this
`

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '3' },
    rate: { type: 'string', default: '20000' },
    connections: { type: 'string', default: '8' },
    only: { type: 'string', default: '' },
    output: { type: 'string', default: 'text' },
    help: { type: 'boolean', default: false },
  },
})
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)]
const [perSecond, connections] = [Number(values.rate), Number(values.connections)]
const isValid = rounds >= 1 && seconds > 0 && perSecond > 0 && connections >= 1
if (values.help || !isValid) {
  process.stdout.write(usage)
  process.exit(values.help ? 0 : 2)
}

interface Running {
  readonly name: string
  readonly server: Server
  readonly output: string
  /** Resident before the first flood, and the most since then. */
  readonly startBytes: number
  mostBytes: number
}

const calmSeconds = 1.5
const callsPerSecond = 100
/** Floods of large frames are limited by this. */
const bytesPerSecond = 20e6

const [attackToken = '', callToken = ''] = createTokens(2)
const kinds = createKinds(attackToken).filter(({ name }) => name.includes(values.only))
const directory = await mkdtemp(join(tmpdir(), 'postern-floods-'))
const stores = createStores()
const upstream = await startUpstream(directory)
const workers = startWorkers()
const running: Running[] = []
const samples: Sample[] = []
const note = (text: string) => console.error(text)
try {
  const main = buildPostern(checkout, join(directory, 'build'))
  for (const peer of createServers(main, stores.open)) {
    if (peer.absent !== undefined) {
      note(`left out: ${peer.name}: ${peer.absent}`)
      continue
    }
    const own = await directoryFor(directory, peer)
    const server = await peer.start({ directory: own, upstreamPort: upstream.port })
    const output = join(own, 'output')
    // Code that V8 has not compiled yet would count as the cost of the first floods.
    await call(server, { seconds: 5, perSecond: 400 })
    await untilQuiet(server.pid)
    const startBytes = usageOf(treeOf(server.pid)).residentBytes
    for (const { name } of kinds) await attack(server, name, 0.5)
    await untilQuiet(server.pid)
    running.push({ name: peer.name, server, output, startBytes, mostBytes: startBytes })
    note(`${peer.name} is up and warm`)
  }
  for (let round = 0; round < rounds; round++) {
    for (const { name } of kinds) {
      for (const each of round % 2 === 0 ? running : running.toReversed()) {
        samples.push(await measure(each, name))
      }
      note(`${name}: done, load ${rounded(loadavg()[0] ?? 0, 1)}`)
    }
  }
  report()
} finally {
  workers.stop()
  for (const { server } of running) await server.stop()
  await upstream.stop()
  await stores.stop()
  await rm(directory, { recursive: true, force: true })
}

function call({ port }: Server, how: { readonly seconds: number; readonly perSecond: number }) {
  return workers.call({ port, path: permitted.one, token: callToken, ...how })
}

function attack({ port }: Server, kind: string, length: number) {
  const limits = { connections, perSecond, bytesPerSecond, seconds: length }
  return workers.attack({ kind, token: attackToken, port, ...limits })
}

async function measure(it: Running, kind: string): Promise<Sample> {
  const { name, server, output } = it
  const pids = treeOf(server.pid)
  const cpuBefore = cpuSecondsOf(pids)
  const calm = await call(server, { seconds: calmSeconds, perSecond: callsPerSecond })
  await untilQuiet(server.pid)
  const { cpuSeconds: cpuCalm, residentBytes } = usageOf(pids)
  let most = residentBytes
  const look = () => {
    most = Math.max(most, usageOf(pids).residentBytes)
  }
  const timer = setInterval(look, 50)
  const [attacked, flooded] = await Promise.all([
    attack(server, kind, seconds),
    call(server, { seconds, perSecond: callsPerSecond }),
  ])
  look()
  clearInterval(timer)
  if (server.hasEnded()) throw new Error(`${name} has ended: ${kind}`)
  // What it has still to do belongs to the flood.
  await untilQuiet(server.pid)
  const callsCpu = ((cpuCalm - cpuBefore) / calmSeconds) * seconds
  const cpuSeconds = Math.max(0, cpuSecondsOf(pids) - cpuCalm - callsCpu)
  it.mostBytes = Math.max(it.mostBytes, most)
  await truncate(output)
  const growthBytes = most - residentBytes
  return { server: name, kind, attack: attacked, cpuSeconds, growthBytes, calm, flooded }
}

function report(): void {
  const byCell = Map.groupBy(samples, ({ server, kind }) => `${kind} ${server}`)
  const figures = [...byCell.values()].map((each) => figuresOf(each))
  const resident = running.map(({ name, startBytes, mostBytes }) => ({
    server: name,
    startMb: rounded(startBytes / 1e6, 0),
    mostMb: rounded(mostBytes / 1e6, 0),
  }))
  const machine = { ...describeMachine(), checkout: describeCheckout(checkout) }
  const settings = { rounds, seconds, perSecond, connections }
  if (values.output === 'json') {
    console.log(JSON.stringify({ ...settings, machine, resident, figures }))
    return
  }
  const show = values.output === 'markdown' ? asMarkdown : asText
  for (const table of Object.values(tablesOf(figures))) console.log(`${show(table)}\n`)
  for (const { server, kind, bad } of figures) {
    if (bad.length > 0) console.log(`${server}, ${kind}: good calls got ${bad.join(', ')}`)
  }
  for (const { server, startMb, mostMb } of resident) {
    console.log(`${server}: ${startMb} MB resident before the floods, at most ${mostMb} MB`)
  }
  console.log(JSON.stringify({ ...settings, machine }))
}
