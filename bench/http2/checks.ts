// CPU per forward-auth request of Envoy on one listener: over HTTP/1.1, over HTTP/2, and over gRPC.
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:http2'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { check, checkOf, decodeAnswer, encodeCheck } from '../../test/support/check-messages.ts'
import { freePort } from '../../test/support/redis-server.ts'
import { median } from '../console/figures.ts'
import type { Server } from '../run/background.ts'
import { buildPostern } from '../run/build.ts'
import { checkout } from '../run/places.ts'
import { createTokens, firstUserId, permitted } from '../run/rules.ts'
import { createStores } from '../run/stores.ts'
import { cpuMicrosOf, requireH2load, runH2load } from './h2load.ts'
import { startPostern } from './postern.ts'

const usage = `npm run bench:checks -- [--rounds N] [--requests N] [--output text|json]

  --rounds N     windows of each form, in turns (7)
  --requests N   checks of a window (40000)
`

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    requests: { type: 'string', default: '40000' },
    output: { type: 'string', default: 'text' },
    help: { type: 'boolean', default: false },
  },
})
const [rounds, requests] = [Number(values.rounds), Number(values.requests)]
if (values.help || !(rounds >= 1) || !(requests >= 1000)) {
  process.stdout.write(usage)
  process.exit(values.help ? 0 : 2)
}
requireH2load('bench:checks')

interface Form {
  readonly name: string
  /** For h2load. */
  readonly args: readonly string[]
  readonly microseconds: number[]
}

const [token = ''] = createTokens(1)
const authorization = `Bearer ${token}`
/** What Envoy tells of each client in either form, with the lists of headers in samples/envoy. */
const told = {
  authorization,
  'x-forwarded-for': '192.0.2.7',
  'x-forwarded-proto': 'https',
  'x-request-id': '7f1c5b0e-93f5-4b62-8c0e-6d2f1f7b1a11',
}
/** Over gRPC it tells all headers. */
const others = {
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'accept-encoding': 'gzip, deflate, br',
  'accept-language': 'en-US,en;q=0.5',
}

const directory = await mkdtemp(join(tmpdir(), 'postern-checks-'))
const stores = createStores()
const port = await freePort()
let server: Server | undefined
try {
  const main = buildPostern(checkout, join(directory, 'build'))
  // No request is forwarded.
  const parts = { main, stores: stores.open, directory, upstreamPort: 9 }
  server = await startPostern(parts, withForwardAuth)
  const { pid } = server
  const message = encodeCheck(
    checkOf({ path: permitted.one, headers: { ...told, ...others }, source: '192.0.2.7' }),
  )
  const file = join(directory, 'check')
  await writeFile(file, framed(message))
  await proveHttp()
  await proveGrpc(message)

  const httpUrl = `http://127.0.0.1:${port}/auth/envoy${permitted.one}`
  const headers = Object.entries(told).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const grpcHeaders = ['-H', 'content-type: application/grpc', '-H', 'te: trailers']
  const grpcUrl = `http://127.0.0.1:${port}${check.path}`
  // As many at a time in each form. Envoy asks over few connections of HTTP/2.
  const many = ['-c', '64', '-m', '1']
  const few = ['-c', '4', '-m', '16']
  const forms: readonly Form[] = [
    form('HTTP/1.1', ['--h1', ...many, ...headers, httpUrl]),
    form('HTTP/2', [...few, ...headers, httpUrl]),
    form('gRPC', [...few, ...grpcHeaders, '-d', file, grpcUrl]),
  ]
  for (const { args } of forms) runH2load(requests, args)
  for (let round = 0; round < rounds; round++) {
    for (const { args, microseconds } of round % 2 === 0 ? forms : forms.toReversed()) {
      microseconds.push(cpuMicrosOf(pid, requests, args))
    }
  }
  report(forms)
} finally {
  await server?.stop()
  await stores.stop()
  await rm(directory, { recursive: true, force: true })
}

function withForwardAuth(text: string): string {
  const trusting = text.replace('application: {', "application: { trustedProxies: ['127.0.0.1'],")
  return `${trusting}\nforwardAuth: { enabled: true, port: ${port} }\n`
}

function form(name: string, args: readonly string[]): Form {
  return { name, args, microseconds: [] }
}

/** A message of gRPC: not compressed, its length, itself. */
function framed(message: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

/** Throws unless the check is allowed with the caller's identity. */
async function proveHttp(): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}/auth/envoy${permitted.one}`, {
    headers: told,
  })
  const userId = answer.headers.get('x-user-id')
  if (answer.status !== 200 || userId !== firstUserId) {
    throw new Error(`over HTTP, the check is answered with ${answer.status} for user ${userId}`)
  }
}

async function proveGrpc(message: Buffer): Promise<void> {
  const session = connect(`http://127.0.0.1:${port}`)
  try {
    const stream = session.request({
      ':method': 'POST',
      ':path': check.path,
      'content-type': 'application/grpc',
      te: 'trailers',
    })
    stream.end(framed(message))
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    await once(stream, 'end')
    const { ok_response: allowed } = decodeAnswer(Buffer.concat(chunks).subarray(5))
    const set = allowed?.headers.map(({ header }) => `${header.key}: ${header.value}`) ?? []
    if (!set.some((line) => line.toLowerCase() === `x-user-id: ${firstUserId}`)) {
      throw new Error(`over gRPC, the check is answered with ${JSON.stringify(set)}`)
    }
  } finally {
    session.destroy()
  }
}

function report(forms: readonly Form[]): void {
  const [http1] = forms
  const rows = forms.map(({ name, microseconds }) => ({
    name,
    microseconds: median(microseconds),
    // Of windows of the same round: the machine is the same for both.
    ratio: median(microseconds.map((own, round) => own / (http1?.microseconds[round] ?? own))),
  }))
  const machine = { cpus: availableParallelism(), load: Math.round((loadavg()[0] ?? 0) * 10) / 10 }
  if (values.output === 'json') {
    console.log(JSON.stringify({ ...machine, rounds, requests, rows }))
    return
  }
  for (const { name, microseconds, ratio } of rows) {
    console.log(
      `${name.padEnd(10)} ${microseconds.toFixed(1)} µs CPU per check, ${ratio.toFixed(2)} times HTTP/1.1`,
    )
  }
  console.log(
    `${rounds} windows of ${requests} checks each, load ${machine.load} on ${machine.cpus} cores`,
  )
}
