import type { Io } from '../../cli/io.ts'
import type { Config } from '../../config/schema/schema.ts'
import type { RunningPostern, ServeOptions } from '../options.ts'

/** The process that a gateway runs in. */
export function hostOf({ host }: Io): NodeJS.Process {
  if (host === undefined) throw new Error('a gateway needs a process of its own')
  return host
}

/** Runs a gateway in this process. */
export async function serveHere(options: ServeOptions): Promise<RunningPostern> {
  const { serve } = await import('../serve.ts')
  const { settleProcess } = await import('../settle-process.ts')
  return serve({ ...options, beforeListening: settleProcess })
}

interface StartOptions {
  readonly base: Readonly<Record<string, number | string>> | undefined
  /** Whether people read the log on a terminal. */
  readonly isTerminal: boolean
  /** Added to the configured shutdown deadlines. */
  readonly extraMs?: number
}

/** Opens the log on stdout. From here on, an uncaught exception leads to an orderly shutdown. */
export async function startProcess(
  host: NodeJS.Process,
  config: Config,
  { base, isTerminal, extraMs = 0 }: StartOptions,
) {
  const [{ openLog }, { createShutdown }] = await Promise.all([
    import('../open-log.ts'),
    import('../shutdown.ts'),
  ])
  const { stdout, stderr, env } = host
  const output = { fd: stdout.fd, errorFd: stderr.fd, isTerminal, env }
  const { log, describe, forward, forwardErrors, flush } = openLog(config, output, base)
  host.on('exit', flush)
  const { deadlineMs, failureDeadlineMs } = config.shutdown
  const shutdown = createShutdown({
    log,
    deadlines: { deadlineMs: deadlineMs + extraMs, failureDeadlineMs: failureDeadlineMs + extraMs },
    describe,
    exit: (code) => host.exit(code),
  })
  // Both: with --unhandled-rejections=warn, Node emits only the second.
  host.on('uncaughtException', shutdown.uncaughtException)
  host.on('unhandledRejection', (error) => shutdown.uncaughtException(error, 'unhandledRejection'))
  return { log, shutdown, forward, forwardErrors }
}

/**
 * Listens for signals from now on: the first process of a container gets only those that it listens
 * for. A terminal that closes sends SIGHUP to stop us; from anywhere else SIGHUP asks for a reload.
 */
export function watchSignals(host: NodeJS.Process) {
  let isEarly = false
  let onStop = () => {
    isEarly = true
  }
  let onReload = () => {}
  const forgetNpx = watchNpx(host, () => onStop())
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    host.on(name, () => {
      forgetNpx()
      onStop()
    })
  }
  host.on('SIGHUP', () => (host.stdout.isTTY === true ? onStop() : onReload()))
  return {
    /** Sets the handlers. A signal to stop that came before them is delivered now. */
    handle(stop: () => void, reload: () => void) {
      ;[onStop, onReload] = [stop, reload]
      if (isEarly) stop()
    },
  }
}

/**
 * npx runs us in a shell and forwards signals to that shell alone, of which many (dash) end without
 * passing them on. So the end of that shell stops us. Only if npx was asked to run Postern: a daemon that
 * some other program of npx starts outlives its parent on purpose.
 */
function watchNpx(host: NodeJS.Process, stop: () => void): () => void {
  const { npm_lifecycle_event: event, npm_lifecycle_script: script = '' } = host.env
  if (event !== 'npx' || !/^\W*postern\b/.test(script)) return () => {}
  const { ppid } = host
  const timer = setInterval(() => {
    if (host.ppid === ppid) return
    clearInterval(timer)
    stop()
  }, 500)
  timer.unref()
  return () => clearInterval(timer)
}
