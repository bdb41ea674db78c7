import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { freePort } from './redis-server.ts'
import { findProxy, type ProxyName } from './services/find-proxy.ts'

/** A proxy, or one of two ways in which it asks. */
export type SampleName = ProxyName | 'envoy-grpc'

/** The samples of each proxy, the one to start with first. */
const samples: Readonly<Record<SampleName, readonly string[]>> = {
  caddy: ['samples/caddy/Caddyfile'],
  traefik: ['samples/traefik/traefik.yaml', 'samples/traefik/postern.yaml'],
  envoy: ['samples/envoy/postern.yaml'],
  'envoy-grpc': ['samples/envoy/postern-grpc.yaml'],
}

export const programOf = (name: SampleName): ProxyName => (name === 'envoy-grpc' ? 'envoy' : name)

const args: Readonly<Record<ProxyName, (file: string) => readonly string[]>> = {
  caddy: (file) => ['run', '--config', file, '--adapter', 'caddyfile'],
  traefik: (file) => [`--configFile=${file}`],
  // Several run side by side.
  envoy: (file) => [
    ...['-c', file, '--concurrency', '1', '--log-level', 'error'],
    '--disable-hot-restart',
  ],
}

export interface ProxyPorts {
  /** The public port of Postern, the one it is asked on, and that of the service. */
  readonly postern: number
  readonly asked: number
  readonly backend: number
  /** Where the proxy itself listens, if others must know it before; else a free port. */
  readonly listen?: number
}

/** The real program with the sample configuration, on a free port. Ends with the test. */
export async function startProxy(
  name: SampleName,
  ports: ProxyPorts,
  change: (sample: string) => string = (sample) => sample,
): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), `postern-${name}-`))
  const port = ports.listen ?? (await freePort())
  const moved = { 8088: port, 8000: ports.postern, 9101: ports.asked, 8080: ports.backend }
  for (const sample of samples[name]) {
    let text = change(await readFile(sample, 'utf8'))
    for (const [from, to] of Object.entries(moved)) {
      text = text
        .replaceAll(`127.0.0.1:${from}`, `127.0.0.1:${to}`)
        .replaceAll(`http://:${from}`, `http://:${to}`)
        .replaceAll(`port_value: ${from} `, `port_value: ${to} `)
    }
    const placed = text.replace(/samples\/\w+\//g, `${directory}/`)
    await writeFile(join(directory, basename(sample)), placed)
  }
  const [first = ''] = samples[name]
  const program = spawn(
    findProxy(programOf(name)),
    args[programOf(name)](join(directory, basename(first))),
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], HOME: directory, XDG_DATA_HOME: directory },
    },
  )
  const output: string[] = []
  for (const stream of [program.stdout, program.stderr]) {
    stream.on('data', (chunk) => output.push(String(chunk)))
  }
  const leave = () => void program.kill('SIGKILL')
  process.once('exit', leave)
  onTestFinished(async () => {
    process.off('exit', leave)
    const ended = once(program, 'exit')
    if (program.kill('SIGKILL')) await ended
    await rm(directory, { recursive: true, force: true })
  })
  for (let turn = 0; turn < 1200 && program.exitCode === null; turn++) {
    if (await listens(port)) return port
    await pause(50)
  }
  throw new Error(`${name} does not start:\n${output.join('')}`)
}

async function listens(port: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' })
  const connected = new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true))
    socket.once('error', () => resolve(false))
  })
  const answer = await connected
  socket.destroy()
  return answer
}
