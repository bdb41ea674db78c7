import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { createCertificates } from '../test/support/certificates.ts'
import { freePort } from '../test/support/redis-server.ts'
import { startServer } from './run/background.ts'
import { measure, type Sample } from './run/measure.ts'
import { nodePeers } from './run/node-peers.ts'
import { checkout } from './run/places.ts'
import { createPosternPeers } from './run/postern-peers.ts'
import { prove } from './run/proof.ts'
import { createStores } from './run/stores.ts'
import { startUpstream } from './run/upstream.ts'
import { workloads } from './run/workloads.ts'

const { values } = parseArgs({
  options: {
    peers: { type: 'string', default: 'bare,postern' },
    workload: { type: 'string', default: 'get' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    postern: { type: 'string', default: checkout },
  },
})
const stores = createStores()
const all = [...nodePeers, ...createPosternPeers(resolve(values.postern), stores.open)]
const peers = all.filter(({ name }) => values.peers.split(',').includes(name))
const chosen = workloads.filter(({ name }) => values.workload.split(',').includes(name))
const upstream = await startUpstream()
const certificates = await createCertificates('127.0.0.1')
const samples = new Map<string, Sample[]>()
try {
  for (let round = 1; round <= Number(values.rounds); round++) {
    for (const peer of peers) {
      for (const tls of [false, true]) {
        const turns = chosen.filter((workload) => (workload.tls ?? false) === tls)
        if (turns.length === 0) continue
        const directory = await mkdtemp(join(tmpdir(), 'postern-bench-'))
        const port = await freePort()
        const { certificate, key } = certificates
        const setting = { port, upstreamPort: upstream.port, directory, tls, certificate, key }
        const launch = await peer.prepare(setting)
        const server = await startServer({ ...launch, port, output: join(directory, 'access.log') })
        try {
          await prove(peer, port, tls)
          for (const workload of turns) {
            const sample = await measure(
              { pid: server.pid, port, checks: peer.kind !== 'plain' },
              { workload, upstream, seconds: Number(values.seconds), warmUpSeconds: 2, directory },
            )
            const key = `${peer.name} ${workload.name}`
            samples.set(key, [...(samples.get(key) ?? []), sample])
            console.log(round, key, JSON.stringify(sample))
          }
        } finally {
          await server.stop()
          await rm(directory, { recursive: true, force: true })
        }
      }
    }
  }
} finally {
  await upstream.stop()
  await stores.stop()
  await certificates.remove()
}
for (const [key, list] of samples) {
  const cpu = list.map(({ cpuMicros }) => cpuMicros).sort((a, b) => a - b)
  console.log(key, 'median CPU µs/request', cpu[Math.floor(cpu.length / 2)]?.toFixed(1))
}
