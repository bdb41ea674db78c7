import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import { runNginx } from '../nginx.ts'
import { freePort } from '../redis-server.ts'

export const fileServers = ['nginx', 'Go', 'Python', 'Java'] as const
export type FileServer = (typeof fileServers)[number]

const sources = 'test/support/file-servers'

/** Says why tests with this server cannot run here, or nothing. */
export function missing(server: FileServer): string | undefined {
  if (server === 'nginx') return process.env['POSTERN_TEST_NGINX'] === '' ? 'no nginx' : undefined
  const [program, version] = {
    Go: ['go', 'version'],
    Python: ['python3', '-V'],
    Java: ['java', '-version'],
  }[server] as [string, string]
  return spawnSync(program, [version]).status === 0 ? undefined : `no ${program}`
}

/** A real server of the files below `root`, on a free port, which it returns. Ends with the test. */
export async function startFileServer(
  server: FileServer,
  root: string,
  scratch: string,
): Promise<number> {
  switch (server) {
    case 'nginx': {
      const port = await freePort()
      return runNginx(`server { listen 127.0.0.1:${port}; root ${root}; }`, port)
    }
    case 'Go': {
      const program = join(scratch, 'serve')
      execFileSync('go', ['build', '-o', program, `${sources}/serve.go`])
      return portOf(spawn(program, [root]))
    }
    case 'Python':
      return portOf(spawn('python3', [`${sources}/serve.py`, root]))
    case 'Java':
      return portOf(spawn('java', [`${sources}/Serve.java`, root]))
  }
}

async function portOf(server: ChildProcess): Promise<number> {
  onTestFinished(async () => {
    const ended = once(server, 'exit')
    if (server.kill('SIGKILL')) await ended
  })
  if (server.stdout === null) throw new Error('no output to read the port from')
  const [line] = await once(createInterface(server.stdout), 'line')
  return Number(line)
}
