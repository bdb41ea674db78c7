import { fstatSync, rmSync } from 'node:fs'
import type { Io, Programs } from '../../cli/io.ts'
import { StartEnded } from '../../workers/start-ended.ts'
import type { supervise } from '../supervise.ts'
import { hostOf, serveHere, startProcess, watchSignals } from './gateway-start.ts'

type ServeOptions = Parameters<Programs['serve']>[0]

/** Runs the gateway until a signal stops it. */
export async function serve(options: ServeOptions, io: Io): Promise<number> {
  try {
    return await runGateway(options, io)
  } catch (error) {
    // The worker that failed has already reported why.
    if (error instanceof StartEnded) return error.exitCode
    throw error
  }
}

/** What the shutdown of several workers may take longer than that of one. */
const workersMs = 10_000

async function runGateway(options: ServeOptions, io: Io): Promise<number> {
  const host = hostOf(io)
  const signals = watchSignals(host)
  const [{ configFile, loadConfig }, { workerCount }] = await Promise.all([
    import('../../config/load.ts'),
    import('../../workers/worker-count.ts'),
  ])
  const location = { file: options.config, env: io.env, cwd: io.cwd }
  const config = loadConfig(location)
  // A reload reads the same file, whatever other default file appears meanwhile.
  const source = { ...location, file: configFile(location) }
  const { count, why } = workerCount(config)
  const isTerminal = host.stdout.isTTY === true
  const { log, shutdown, forward, forwardErrors } = await startProcess(
    host,
    config,
    count === 1
      ? { base: undefined, isTerminal }
      : { base: { pid: host.pid }, isTerminal, extraMs: workersMs },
  )
  const { createConfigFeed } = await import('../config-feed.ts')
  const feed = createConfigFeed(source, config, log)
  const configuration = feed.state
  signals.handle(shutdown.signalReceived, feed.reload)
  if (why !== undefined) log.info({ workers: count, reason: why }, 'application.workers is auto')
  if (shutdown.abortSignal.aborted) return shutdown.exitCode()
  const postern =
    count === 1
      ? await serveHere({
          ...{ config, log, isTerminal, configuration, env: io.env },
          abortSignal: shutdown.abortSignal,
        })
      : await superviseHere({
          config,
          log,
          count,
          output: {
            isTerminal,
            isFile: fstatSync(host.stdout.fd).isFile(),
            forward,
            forwardErrors,
          },
          shutdown,
          reservedMs: workersMs,
          configuration,
        })
  const { publicPort, opsPort, forwardAuthPort, revision } = postern
  const { seeded = [], passwordFile, unprintedFile } = postern.firstAccounts ?? {}
  const workers = count === 1 ? undefined : count
  const ports = { port: publicPort, opsPort, forwardAuthPort }
  const configRevision = configuration().revision
  log.info({ ...ports, revision, configRevision, workers }, 'listening')
  feed.follow(postern.apply)
  for (const { username, roleKey, password } of passwordFile === undefined ? seeded : []) {
    io.out(`created account ${username} (role ${roleKey}), password ${password}\n`)
  }
  if (unprintedFile !== undefined) rmSync(unprintedFile, { force: true })
  // After the gateway: the console reaches the embedded database through it.
  const consoleProcess = config.console.enabled
    ? (await import('../console/console-process.ts')).startConsole({
        ...{ config, configFile: source.file, host, isTerminal },
        ...{ forward, forwardErrors, log, takeDecisions: postern.takeDecisions },
      })
    : undefined
  if (options.tour) {
    const { tour } = await import('./tour.ts')
    const editorPassword = seeded.find(({ username }) => username === 'editor')?.password
    const consoleAddress = await consoleProcess?.listening(tourWaitMs)
    const address = `http://127.0.0.1:${publicPort}`
    io.out(tour({ address, editorPassword, passwordFile, consoleAddress }))
  }

  return shutdown.complete(async () => {
    // First: it reaches the embedded database through this process.
    await consoleProcess?.close()
    // Together: a reload in progress must not delay that /readyz reports the shutdown.
    await Promise.all([feed.close(), postern.close()])
  })
}

/** The tour is printed without the address of a console that takes longer. */
const tourWaitMs = 20_000

/** Settles the supervisor's process before its workers have anything that they could wait for. */
async function superviseHere(parts: Parameters<typeof supervise>[0]): ReturnType<typeof supervise> {
  const { supervise } = await import('../supervise.ts')
  const { settleProcess } = await import('../settle-process.ts')
  settleProcess()
  return supervise(parts)
}
