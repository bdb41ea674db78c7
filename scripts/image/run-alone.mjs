import { randomUUID } from 'node:crypto'
import { chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { MEMORY, startContainer, USER } from './container.mjs'
import { expectThat, passed } from './verdict.mjs'
import { work } from './workplace.mjs'

/** Runs the image as a cluster would, on the network of the machine, and asks it what it is. */
export async function runAlone({ rootfs, args, check, env, cwd }) {
  const [port, opsPort, collector] = [await freePort(), await freePort(), await startCollector()]
  const data = join(work, 'data')
  mkdirSync(data)
  chownSync(data, USER, USER)
  const config = join(work, 'postern.yaml')
  writeFileSync(config, JSON.stringify(configuration(port, opsPort, collector.port)))
  const gateway = startContainer('alone', {
    ...{ rootfs, args, env, cwd, memory: MEMORY },
    mounts: [
      [config, '/etc/postern/postern.yaml', 'ro'],
      [data, '/var/lib/postern', 'rw'],
    ],
  })
  await gateway.untilReady(() => gateway.said().includes('"listening"'))
  passed('it starts and listens')

  const health = gateway.exec(...check)
  expectThat(health.status === 0, `the HEALTHCHECK passes on the configured port ${health.stderr}`)
  const version = JSON.parse(gateway.exec('postern', 'version', '--output', 'json').stdout)
  expectThat(version.commit === 'c'.repeat(40), 'it knows its commit')
  const status = gateway.exec('cat', '/proc/1/status').stdout
  expectThat(new RegExp(`^Uid:\\s+${USER}\\s`, 'm').test(status), 'it is not root')
  expectThat(/^CapEff:\s+0+$/m.test(status), 'it has no capabilities')
  expectThat(/^CapBnd:\s+0+$/m.test(status), 'it can get no capabilities')
  expectThat(/^NoNewPrivs:\s+1$/m.test(status), 'it can gain no privileges')
  expectThat(gateway.exec('touch', '/app/written').status !== 0, 'its file system is read-only')
  expectThat(gateway.exec('touch', '/var/lib/postern/w').status === 0, 'its data is writable')
  expectThat(gateway.memoryLimits().includes(MEMORY), 'its memory is limited to 512 MiB')

  const answer = await fetch(`http://127.0.0.1:${port}/anything`)
  const { code: refusal } = await answer.json()
  expectThat(refusal === 401, 'it refuses a caller without a token')
  const { stdout } = gateway.exec('cat', '/proc/1/status')
  const peak = Number(/^VmHWM:\s+(\d+)/m.exec(stdout)?.[1]) / 1024
  console.log(`memory: ${Math.round(peak)} MB at most`)

  gateway.signal('TERM')
  expectThat((await gateway.ended) === 0, 'SIGTERM ends it with exit code 0')
  const spans = await Promise.race([collector.exported, pause(60_000, '')])
  expectThat(spans.includes('"postern.outcome"'), 'it exported a span by OTLP')
}

function configuration(port, opsPort, collectorPort) {
  return {
    application: { host: '127.0.0.1', port, dataDirectory: '/var/lib/postern' },
    ops: { port: opsPort },
    jwt: { secret: randomUUID() + randomUUID() },
    // As in a cluster: the first start of the embedded database can need more memory than this.
    database: { url: 'postgres://none:none@127.0.0.1:9/none', migrate: 'never' },
    policy: { directory: '/app/policies' },
    tracing: { otlp: `http://127.0.0.1:${collectorPort}` },
    shutdown: { graceMs: 0 },
    upstreams: { app: { targets: [`http://127.0.0.1:${collectorPort}`] } },
    routes: [{ path: '/', upstream: 'app' }],
  }
}

/** A collector of spans; resolves with the first export. */
function startCollector() {
  const { promise: exported, resolve } = Promise.withResolvers()
  const server = createServer((request, response) => {
    const chunks = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      response.setHeader('content-type', 'application/json').end('{}')
      resolve(gunzipSync(Buffer.concat(chunks)).toString())
    })
  })
  server.unref()
  return new Promise((listening) => {
    server.listen(0, '127.0.0.1', () => listening({ port: server.address().port, exported }))
  })
}

async function freePort() {
  const server = createServer()
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address()
  await new Promise((closed) => server.close(closed))
  return port
}
