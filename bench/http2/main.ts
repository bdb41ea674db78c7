// CPU per request over HTTP/2, in one run: Postern against a bare forwarder of node:http2 that checks
// nothing, and beside nginx and Envoy. h2load sends the requests: 64 connections with 10 streams each.
import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { median } from '../console/figures.ts'
import type { Server } from '../run/background.ts'
import { buildPostern } from '../run/build.ts'
import { checkout } from '../run/places.ts'
import { createTokens, permitted } from '../run/rules.ts'
import { createStores } from '../run/stores.ts'
import { startUpstream } from '../run/upstream.ts'
import { cpuMicrosOf, requireH2load, runH2load } from './h2load.ts'
import { createPeers, directoryFor } from './peers.ts'

const usage = `npm run bench:http2 -- [--rounds N] [--requests N] [--limit RATIO] [--output text|json]

  --rounds N      windows of each peer, in turns (7)
  --requests N    requests of a window (60000)
  --limit RATIO   exit with 1 if Postern needs more CPU per request than that times the bare forwarder
`

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    requests: { type: 'string', default: '60000' },
    limit: { type: 'string' },
    output: { type: 'string', default: 'text' },
    help: { type: 'boolean', default: false },
  },
})
const [rounds, requests] = [Number(values.rounds), Number(values.requests)]
if (values.help || !(rounds >= 1) || !(requests >= 1000)) {
  process.stdout.write(usage)
  process.exit(values.help ? 0 : 2)
}
requireH2load('bench:http2')

interface Running {
  readonly name: string
  readonly server: Server
  readonly microseconds: number[]
}

const [token = ''] = createTokens(1)
const directory = await mkdtemp(join(tmpdir(), 'postern-http2-'))
const stores = createStores()
const upstream = await startUpstream(directory)
const running: Running[] = []
try {
  const main = buildPostern(checkout, join(directory, 'build'))
  for (const peer of createPeers(main, stores.open)) {
    if (peer.absent !== undefined) {
      console.error(`left out: ${peer.name}: ${peer.absent}`)
      continue
    }
    const own = await directoryFor(directory, peer)
    const server = await peer.start({ directory: own, upstreamPort: upstream.port })
    running.push({ name: peer.name, server, microseconds: [] })
    runH2load(requests, loadOf(server))
  }
  for (let round = 0; round < rounds; round++) {
    for (const peer of round % 2 === 0 ? running : running.toReversed()) measure(peer)
  }
  report()
} finally {
  for (const { server } of running) await server.stop()
  await upstream.stop()
  await stores.stop()
  await rm(directory, { recursive: true, force: true })
}

function loadOf({ port }: Server): readonly string[] {
  const url = `http://127.0.0.1:${port}${permitted.one}`
  return ['-c', '64', '-m', '10', '-H', `authorization: Bearer ${token}`, url]
}

function measure({ server, microseconds }: Running): void {
  microseconds.push(cpuMicrosOf(server.pid, requests, loadOf(server)))
}

function report(): void {
  const [bare] = running
  const rows = running.map(({ name, microseconds }) => ({
    name,
    microseconds: median(microseconds),
    // Of windows of the same round: the machine is the same for both.
    ratio: median(microseconds.map((own, round) => own / (bare?.microseconds[round] ?? own))),
  }))
  const machine = { cpus: availableParallelism(), load: Math.round((loadavg()[0] ?? 0) * 10) / 10 }
  if (values.output === 'json') console.log(JSON.stringify({ ...machine, rounds, requests, rows }))
  else {
    for (const { name, microseconds, ratio } of rows) {
      console.log(
        `${name.padEnd(24)} ${microseconds.toFixed(1)} µs CPU per request, ${ratio.toFixed(2)} times the bare forwarder`,
      )
    }
    console.log(
      `${rounds} windows of ${requests} requests each, load ${machine.load} on ${machine.cpus} cores`,
    )
  }
  const ours = rows.find(({ name }) => name.startsWith('Postern'))
  if (values.limit !== undefined && (ours?.ratio ?? 0) > Number(values.limit)) process.exitCode = 1
}
