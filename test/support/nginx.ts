import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { freePort } from './redis-server.ts'
import { findNginx } from './services/find-nginx.ts'

export interface NginxOptions {
  /** What the addresses in the file become: those of the test. */
  readonly ports: Readonly<Record<string, number>>
  /** Other text in the file, to show what the text there is for. */
  readonly changes?: Readonly<Record<string, string>>
  /** What a reader adds to it. */
  readonly change?: ((sample: string) => string) | undefined
}

/** A real nginx with the sample configuration, on a free port. Ends with the test. */
export async function startNginx({
  ports,
  changes = {},
  change = (sample) => sample,
}: NginxOptions): Promise<number> {
  const port = await freePort()
  let sample = change(await readFile('samples/nginx/postern.conf', 'utf8'))
  for (const [address, own] of Object.entries({ ...ports, '127.0.0.1:8088': port })) {
    sample = replaced(sample, address, `127.0.0.1:${own}`)
  }
  for (const [from, to] of Object.entries(changes)) sample = replaced(sample, from, to)
  return runNginx(sample, port)
}

/** A real nginx before these servers, with its defaults but for connections that it keeps open, as we do. */
export async function startKeepAliveNginx(servers: readonly string[]): Promise<number> {
  const port = await freePort()
  const listed = servers.map((server) => `server ${server};`).join(' ')
  return runNginx(
    `upstream backend { ${listed} keepalive 100; }
     server {
       listen 127.0.0.1:${port};
       location / {
         proxy_pass http://backend;
         proxy_http_version 1.1;
         proxy_set_header Connection "";
       }
     }`,
    port,
  )
}

/**
 * A real nginx with this inside its `http` block, as soon as it listens on `port`; returns that. Ends
 * with the test.
 */
export async function runNginx(text: string, port: number): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-nginx-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  await mkdir(join(directory, 'temporary'))
  await writeFile(join(directory, 'nginx.conf'), around(text, directory))

  const args = ['-p', directory, '-e', 'stderr', '-c', 'nginx.conf', '-g', 'daemon off;']
  const nginx = spawn(findNginx(), args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const output: string[] = []
  nginx.stderr.on('data', (chunk) => output.push(String(chunk)))
  const leave = () => void nginx.kill('SIGTERM')
  process.once('exit', leave)
  onTestFinished(async () => {
    process.off('exit', leave)
    const ended = once(nginx, 'exit')
    if (nginx.kill('SIGTERM')) await ended
  })

  for (let turn = 0; turn < 200 && nginx.exitCode === null; turn++) {
    if (await listens(port)) return port
    await pause(25)
  }
  throw new Error(`nginx does not start:\n${output.join('')}`)
}

function replaced(text: string, from: string, to: string): string {
  if (!text.includes(from)) throw new Error(`the sample has no ${from}`)
  return text.replace(from, to)
}

/** What a whole installation has around the sample. */
function around(sample: string, directory: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${directory}/temporary/${name};`,
  )
  return [
    ...(userInfo().uid === 0 ? ['user root;'] : []),
    `pid ${directory}/nginx.pid;`,
    'worker_processes 1;',
    'events { worker_connections 4096; }',
    `http { access_log off; ${temporary.join(' ')}`,
    sample,
    '}',
  ].join('\n')
}

async function listens(port: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' })
  const outcome = Promise.race([
    once(socket, 'connect').then(() => true),
    once(socket, 'error').then(() => false),
  ])
  try {
    return await outcome
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
