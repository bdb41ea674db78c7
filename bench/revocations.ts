import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startGatewayProcess } from '../test/support/gateway-process.ts'
import { startRedis } from '../test/support/redis-server.ts'
import { testSecret, tokenOf } from '../test/support/tokens.ts'

/*
 * How long from the answer to a logout until another gateway, a process of its own, refuses the
 * token: by message, and by the poll alone, when every subscription is cut as it is made. Postern
 * promises a second. With --limit 1000, the exit code says whether that held.
 */
const { values } = parseArgs({
  options: { logouts: { type: 'string', default: '50' }, limit: { type: 'string' } },
})
const agent = new Agent({ keepAlive: true })

function ask(port: number, method: string, path: string, token: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Length': '0' }
    request({ host: '127.0.0.1', port, method, path, headers, agent }, (answer) => {
      let text = ''
      answer.on('data', (chunk) => {
        text += chunk
      })
      answer.on('end', () => resolve(text))
    })
      .on('error', reject)
      .end()
  })
}

async function measure(here: number, there: number): Promise<number> {
  const token = tokenOf('admin')
  if ((await ask(there, 'GET', '/', token)) !== 'ok') throw new Error('a good token is refused')
  const answer = await ask(here, 'POST', '/api/v1/logout', token)
  if (!answer.includes('"logged out"')) throw new Error(`no logout: ${answer}`)
  const start = performance.now()
  while ((await ask(there, 'GET', '/', token)) === 'ok');
  return performance.now() - start
}

function summary(times: readonly number[]) {
  const sorted = times.toSorted((one, other) => one - other)
  const at = (share: number) =>
    Math.round((sorted[Math.ceil(sorted.length * share) - 1] ?? 0) * 10) / 10
  return { p50: at(0.5), p99: at(0.99), max: at(1) }
}

const directory = await mkdtemp(join(tmpdir(), 'postern-bench-'))
const upstream = createServer((_, reply) => reply.end('ok')).listen(0, '127.0.0.1')
const redis = await startRedis()
const { port } = upstream.address() as AddressInfo
const config = {
  application: { host: '127.0.0.1', port: 0, dataDirectory: join(directory, 'data') },
  ops: { port: 0 },
  jwt: { secret: testSecret },
  redis: { url: redis.url },
  policy: { directory: join(import.meta.dirname, '..', 'policies') },
  upstreams: { backend: { targets: [`http://127.0.0.1:${port}`] } },
  routes: [{ path: '/', upstream: 'backend' }],
}
const [here, there] = [
  await startGatewayProcess(join(directory, 'here.yaml'), config),
  await startGatewayProcess(join(directory, 'there.yaml'), config),
]
try {
  const run = async () => {
    const times: number[] = []
    for (let at = 0; at < Number(values.logouts); at++) {
      times.push(await measure(here.publicPort, there.publicPort))
    }
    return summary(times)
  }
  await measure(here.publicPort, there.publicPort)
  const byMessage = await run()
  const silence = setInterval(() => {
    redis.client.call('CLIENT', 'KILL', 'TYPE', 'pubsub').catch(() => {})
  }, 2)
  const byPoll = await run()
  clearInterval(silence)

  const machine = { cpus: availableParallelism(), load: Math.round((loadavg()[0] ?? 0) * 10) / 10 }
  const milliseconds = { byMessage, byPoll }
  const logouts = Number(values.logouts)
  console.log(JSON.stringify({ benchmark: 'revocations', ...machine, logouts, milliseconds }))
  const worst = Math.max(byMessage.max, byPoll.max)
  if (values.limit !== undefined && worst > Number(values.limit)) process.exitCode = 1
} finally {
  await Promise.all([here.stop(), there.stop()])
  await redis.stop()
  agent.destroy()
  upstream.close()
  await rm(directory, { recursive: true, force: true })
}
