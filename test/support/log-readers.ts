import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { inject, onTestFinished } from 'vitest'
import { stringify } from 'yaml'
import { testSecret } from './tokens.ts'
import { until } from './until.ts'

export interface WatchedGateway {
  readonly publicPort: number
  readonly opsPort: number
  /** Everything that has been read of its log. */
  readonly text: () => string
  /** Reads nothing more, for now. */
  readonly stopReading: () => void
  readonly goOnReading: () => void
  /** Tells what we started to end: on a socket, that is the gateway itself. */
  readonly end: () => void
  /** As when its window is closed. */
  readonly closeTerminal: () => void
  /** Settles when its log has ended, and it with it. */
  readonly ended: Promise<unknown>
}

export interface ReaderOptions {
  readonly logger?: Readonly<Record<string, unknown>>
  /** Where several workers find what they share; without it there is one. */
  readonly workersOn?: { readonly redisUrl: string; readonly databaseUrl: string }
  readonly env?: Readonly<Record<string, string>>
}

const gateway = `"$NODE" ${resolve('src/main.ts')} serve --config "$CONFIG"`

/**
 * A gateway with its log on what the name says: `socket` is what Node gives a child, `journal` one
 * for both outputs, as systemd does it, `pipe` what a
 * shell does, `file` is followed as it grows, `terminal` is a pseudo-terminal.
 */
export const readers = {
  socket: (env: NodeJS.ProcessEnv) => spawnShell(`exec ${gateway}`, env),
  journal: (env: NodeJS.ProcessEnv) => spawnShell(`exec ${gateway} 2>&1`, env),
  pipe: (env: NodeJS.ProcessEnv) => spawnShell(`${gateway} | cat`, env),
  file: (env: NodeJS.ProcessEnv) =>
    spawnShell(
      `log="$CONFIG.log"; : > "$log"; tail -f -n +1 --pid=$$ "$log" & exec ${gateway} > "$log"`,
      env,
    ),
  terminal: (env: NodeJS.ProcessEnv) =>
    spawn('script', ['--quiet', '--return', '--command', `exec ${gateway}`, '/dev/null'], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env,
      detached: true,
    }),
} as const

function spawnShell(command: string, env: NodeJS.ProcessEnv): ChildProcess {
  const stdio = ['ignore', 'pipe', 'inherit'] as const
  return spawn('sh', ['-c', command], { stdio: [...stdio], env, detached: true })
}

/** Starts it and waits until it says on which ports it listens. */
export async function startReadBy(
  reader: keyof typeof readers,
  { logger = {}, workersOn, env = {} }: ReaderOptions = {},
): Promise<WatchedGateway> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-read-'))
  const file = join(directory, 'postern.yaml')
  await writeFile(file, stringify(configuration(logger, workersOn)))
  const environment = {
    ...Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !/^(?:POSTERN_|NO_COLOR|FORCE_)/.test(name)),
    ),
    TERM: 'xterm',
    NODE: process.execPath,
    CONFIG: file,
    ...env,
  }
  const child = readers[reader](environment)
  onTestFinished(async () => {
    killGroup(child.pid)
    await rm(directory, { recursive: true, force: true })
  })
  const output = child.stdout as Readable
  let text = ''
  output.on('data', (chunk) => {
    text += chunk
  })
  const ports = () => [...withoutColours(text).matchAll(/"?(?:opsP|p)ort"?[=:](\d+)/g)]
  await until(() => ports().length >= 2)
  const [publicPort = 0, opsPort = 0] = ports().map(([, port]) => Number(port))
  return {
    publicPort,
    opsPort,
    text: () => text,
    stopReading: () => void output.pause(),
    goOnReading: () => void output.resume(),
    end: () => void child.kill('SIGTERM'),
    closeTerminal: () => void child.kill('SIGKILL'),
    ended: once(output, 'end'),
  }
}

/** The group that we made for it: the shell, the gateway and the reader, if there is one left. */
function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {}
}

/** What is left of a text when its colours are taken off. */
export function withoutColours(text: string): string {
  return text.split(/\u001b\[\d+m/).join('')
}

function configuration(
  logger: Readonly<Record<string, unknown>>,
  workersOn: ReaderOptions['workersOn'],
) {
  return {
    application: {
      host: '127.0.0.1',
      port: 0,
      dataDirectory: inject('sharedData'),
      ...(workersOn && { workers: 2 }),
    },
    ...(workersOn && {
      database: { url: workersOn.databaseUrl },
      redis: { url: workersOn.redisUrl },
    }),
    ops: { port: 0 },
    // Nothing to wait for between being told to end and the end.
    shutdown: { graceMs: 0, idleMs: 0 },
    logger,
    jwt: { secret: testSecret },
    policy: { directory: resolve('policies') },
    upstreams: { backend: { targets: ['http://127.0.0.1:1'] } },
    routes: [{ path: '/', upstream: 'backend' }],
  }
}
