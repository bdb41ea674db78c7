import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { freePort } from './redis-server.ts'
import { findProgram } from './services/programs.ts'
import { until } from './until.ts'

/** `undefined` where it is not installed. */
export function findHaproxy(): string | undefined {
  return findProgram({ name: 'haproxy', asked: '-v', says: /version (\d+)\./, oldest: 2 })
}

/**
 * A real HAProxy before one server, with these lines in its frontend; its port. Ends with the test.
 * `backend`: lines instead of the one for the server.
 */
export async function startHaproxy(
  program: string,
  server: number,
  lines: readonly string[],
  backend: readonly string[] = [`server app 127.0.0.1:${server}`],
): Promise<number> {
  const port = await freePort()
  const directory = await mkdtemp(join(tmpdir(), 'postern-haproxy-'))
  const file = join(directory, 'haproxy.cfg')
  const seconds = ['connect', 'client', 'server'].map((name) => `timeout ${name} 60s`)
  await writeFile(
    file,
    [
      ...['defaults', 'mode http', ...seconds],
      ...['frontend web', `bind 127.0.0.1:${port}`, ...lines, 'default_backend app'],
      ...['backend app', ...backend, ''],
    ].join('\n'),
  )
  const haproxy = spawn(program, ['-f', file, '-db'], { stdio: 'ignore' })
  const leave = () => void haproxy.kill('SIGKILL')
  process.once('exit', leave)
  onTestFinished(async () => {
    process.off('exit', leave)
    const ended = once(haproxy, 'exit')
    if (haproxy.kill('SIGKILL')) await ended
    await rm(directory, { recursive: true, force: true })
  })
  await until(async () => {
    const socket = connect({ port, host: '127.0.0.1' })
    const isThere = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    return isThere
  })
  return port
}
