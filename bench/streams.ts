import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:http2'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { metricOf, watchMemory } from '../test/support/gateway-metrics.ts'
import { startGatewayProcess } from '../test/support/gateway-process.ts'
import {
  download,
  type Streamed,
  type StreamOptions,
  startStreamUpstream,
  upload,
} from '../test/support/streams.ts'
import { testSecret, tokenOf } from '../test/support/tokens.ts'

/*
 * Large bodies through a gateway in a process of its own, to and from peers that read slowly:
 * how much more memory it takes than after a first short round of them, and whether every byte
 * arrives. The first round is said apart: V8 lets about 64 MiB of buffers wait for its collector,
 * however few streams there are. Bodies are made and digested as they go; nothing goes to a disk.
 */
const { values } = parseArgs({
  options: {
    mib: { type: 'string', default: '1024' },
    parallel: { type: 'string', default: '50' },
    /** How fast one peer reads, in MiB a second. */
    rate: { type: 'string', default: '8' },
    /** The bar: MiB over what it takes at rest. */
    most: { type: 'string', default: '64' },
    /** Over HTTP/2, and then with this many streams that are open and idle. */
    http2: { type: 'boolean', default: false },
    idle: { type: 'string', default: '10000' },
  },
})
const MIB = 1_048_576
const bytes = Number(values.mib) * MIB
const parallel = Number(values.parallel)
const bytesPerSecond = Number(values.rate) * MIB
const mostMib = Number(values.most)
const { http2 } = values
const idle = http2 ? Number(values.idle) : 0
const streamsPerConnection = 100

const toMib = (amount: number) => Math.round((amount / MIB) * 10) / 10

/** Says on a terminal how far it is. */
function createProgress(what: string) {
  let done = 0
  const all = bytes * parallel
  const timer = setInterval(() => {
    const share = Math.round((done / all) * 100)
    process.stderr.write(`\r${what}: ${toMib(done)} of ${toMib(all)} MiB, ${share} % `)
  }, 500)
  if (!process.stderr.isTTY) clearInterval(timer)
  return {
    add(more: number) {
      done += more
    },
    stop() {
      clearInterval(timer)
      if (process.stderr.isTTY) process.stderr.write('\r\x1b[K')
    },
  }
}

const directory = await mkdtemp(join(tmpdir(), 'postern-soak-'))
const upstream = await startStreamUpstream()
const gateway = await startGatewayProcess(join(directory, 'postern.yaml'), {
  application: { host: '127.0.0.1', port: 0, dataDirectory: join(directory, 'data'), h2c: http2 },
  ops: { port: 0 },
  jwt: { secret: testSecret },
  // None: the embedded one has half a gigabyte of its own, in which growth would not be seen.
  database: { url: 'postgres://nobody@127.0.0.1:9/none', migrate: 'never' },
  policy: { directory: join(process.cwd(), 'policies') },
  // How fast this machine is, is not the question: a peer that has no turn is slow, not gone.
  limits: { bodyBytes: bytes, requestTimeoutMs: 86_400_000, stallTimeoutMs: 600_000 },
  overload: { inFlight: 5000 + idle },
  upstreams: {
    backend: {
      targets: [upstream.origin],
      bodyTimeoutMs: 600_000,
      ...(http2 && { connections: 1000 + idle, maxShare: 100 }),
    },
  },
  routes: [{ path: '/', upstream: 'backend' }],
})

/** Ordinary traffic: what the runtime takes for that is not what streams take. */
async function warmUp(): Promise<void> {
  const headers = { Authorization: `Bearer ${tokenOf('admin')}` }
  async function ask(): Promise<void> {
    for (let turn = 0; turn < 200; turn++) {
      await (await fetch(`http://127.0.0.1:${gateway.publicPort}/`, { headers })).text()
    }
  }
  await Promise.all(Array.from({ length: parallel }, ask))
}

type Stream = (options: StreamOptions) => Promise<Streamed>

/** Streams once, so that what the runtime keeps for it from then on is not counted as growth. */
async function firstRound(stream: Stream): Promise<number> {
  const atRest = await metricOf(gateway.opsPort, 'process_resident_memory_bytes')
  const options = {
    port: gateway.publicPort,
    bytes: Math.min(bytes, 8 * MIB),
    bytesPerSecond,
    http2,
  }
  await Promise.all(Array.from({ length: parallel }, (_, at) => stream({ ...options, stream: at })))
  return toMib((await metricOf(gateway.opsPort, 'process_resident_memory_bytes')) - atRest)
}

async function run(what: string, stream: Stream) {
  const firstMib = await firstRound(stream)
  const atRest = await metricOf(gateway.opsPort, 'process_resident_memory_bytes')
  const memory = watchMemory(gateway.opsPort)
  const progress = createProgress(what)
  const start = performance.now()
  const options = {
    port: gateway.publicPort,
    bytes,
    bytesPerSecond,
    http2,
    onProgress: progress.add,
  }
  const ends = await Promise.allSettled(
    Array.from({ length: parallel }, (_, at) => stream({ ...options, stream: at })),
  )
  const seconds = (performance.now() - start) / 1000
  progress.stop()
  await memory.stop()
  const failures = ends.flatMap((end) => (end.status === 'rejected' ? [String(end.reason)] : []))
  const bad = gateway.log.filter(({ outcome }) => outcome !== undefined && outcome !== 'passed')
  failures.push(...new Set(bad.map(({ outcome, reason }) => `${outcome}: ${reason}`)))
  return {
    seconds: Math.round(seconds),
    mibPerSecond: toMib((bytes * parallel) / seconds),
    /** What the first streams of the process added, and what it then kept. */
    firstMib,
    restMib: toMib(atRest),
    extraMib: toMib(memory.peak() - atRest),
    equal: ends.every((end) => end.status === 'fulfilled' && isEqual(end.value)),
    failures,
  }
}

/** Streams of events on which nothing happens, and an ordinary request beside them. */
async function runIdle() {
  const atRest = await metricOf(gateway.opsPort, 'process_resident_memory_bytes')
  const authorization = `Bearer ${tokenOf('admin')}`
  const sessions = Array.from({ length: Math.ceil(idle / streamsPerConnection) }, () =>
    connect(`http://127.0.0.1:${gateway.publicPort}`),
  )
  let open = 0
  for (const session of sessions) {
    const streams = Array.from({ length: Math.min(streamsPerConnection, idle - open) }, () =>
      session.request({ ':path': '/events', authorization }),
    )
    const heads = await Promise.all(streams.map((stream) => once(stream, 'response')))
    open += heads.filter(([head]) => head[':status'] === 200).length
  }
  const mib = toMib((await metricOf(gateway.opsPort, 'process_resident_memory_bytes')) - atRest)
  const headers = { Authorization: authorization }
  const { status } = await fetch(`http://127.0.0.1:${gateway.publicPort}/`, { headers })
  for (const session of sessions) session.destroy()
  while ((await metricOf(gateway.opsPort, 'postern_open_requests')) > 0) await pause(100)
  return { connections: sessions.length, open, extraMib: mib, status }
}

function isEqual({ sent, received }: Streamed): boolean {
  return received.bytes === bytes && sent.bytes === bytes && sent.sha256 === received.sha256
}

try {
  await warmUp()
  const down = await run('down', (options) => download(upstream, options))
  const up = await run('up', upload)
  const idleStreams = http2 ? await runIdle() : undefined
  const passed =
    [down, up].every(({ equal, extraMib }) => equal && extraMib <= mostMib) &&
    (idleStreams === undefined || (idleStreams.open === idle && idleStreams.status === 200))
  const load = Math.round((loadavg()[0] ?? 0) * 10) / 10
  console.log(
    JSON.stringify({
      benchmark: 'streams',
      mib: bytes / MIB,
      parallel,
      rateMib: bytesPerSecond / MIB,
      cpus: availableParallelism(),
      load,
      http2,
      down,
      up,
      ...(idleStreams !== undefined && { idleStreams }),
      passed,
    }),
  )
  if (!passed) process.exitCode = 1
} finally {
  await gateway.stop()
  await upstream.close()
  await rm(directory, { recursive: true, force: true })
}
