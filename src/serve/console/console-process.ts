import { type ChildProcess, spawn } from 'node:child_process'
import type { Config } from '../../config/schema/schema.ts'
import type { DecisionBatch } from '../../fleet/decision-batch.ts'
import { createBackOff } from '../../kernel/back-off.ts'
import type { Log } from '../../log/log.ts'
import { createRelay } from '../../workers/relay.ts'

interface ConsoleProcessParts {
  /** As given to the gateway; `undefined`: the environment names it, or nothing does. */
  readonly configFile: string | undefined
  readonly config: Config
  readonly host: Pick<NodeJS.Process, 'execPath' | 'execArgv' | 'argv' | 'env'>
  readonly isTerminal: boolean
  /** Where its lines go: the log of the gateway. */
  readonly forward: (lines: string) => void
  readonly forwardErrors: (lines: string) => void
  readonly log: Pick<Log, 'warn'>
  /** What the gateway decided since the last call, for those who watch in the console. */
  readonly takeDecisions: () => Promise<readonly DecisionBatch[]>
}

/** A console that exits at once must not be started in a loop. */
const leastPauseMs = 250
/** It has no long requests to finish. */
const closeMs = 5000

/**
 * Runs the console beside the gateway, and starts it again whenever it exits: what happens to it never
 * touches the gateway. It ends by itself when the channel to this process closes.
 */
export function startConsole(parts: ConsoleProcessParts) {
  const relay = createRelay()
  const backOff = createBackOff()
  const first = Promise.withResolvers<string | undefined>()
  let child: ChildProcess | undefined
  let timer: NodeJS.Timeout | undefined
  let isClosing = false
  let isAsking = false

  function start(): void {
    const startedAt = performance.now()
    const started = spawnConsole(parts)
    child = started
    // Both are absent when the system has no descriptors left.
    if (started.stdout) relay.take(started.stdout, parts.forward)
    if (started.stderr) relay.take(started.stderr, parts.forwardErrors)
    started.on('message', (message) => void onMessage(started, message))
    started.once('error', ({ message }) => ended(startedAt, { reason: message }))
    started.once('exit', (code, signal) => ended(startedAt, { code, signal }))
  }

  async function onMessage(from: ChildProcess, message: unknown): Promise<void> {
    const { kind } = Object(message)
    if (kind === 'listening') first.resolve(addressIn(message))
    if (kind !== 'decisions' || isAsking) return
    isAsking = true
    // A failure here would end the gateway.
    const batches = await parts.takeDecisions().catch(() => [])
    isAsking = false
    // A failed send means that it is exiting.
    if (from.connected) from.send({ kind: 'decisions', batches }, () => {})
  }

  function ended(startedAt: number, why: object): void {
    if (child === undefined) return
    child = undefined
    if (isClosing) return
    const restartMs = Math.max(leastPauseMs, backOff.after(performance.now() - startedAt))
    parts.log.warn({ ...why, restartMs }, 'console exited; starting it again')
    timer = setTimeout(start, restartMs)
  }

  start()
  return {
    /** Where browsers find it; `undefined` if it does not listen within this time. */
    async listening(withinMs: number) {
      const timeout = setTimeout(() => first.resolve(undefined), withinMs)
      const address = await first.promise
      clearTimeout(timeout)
      return address
    },
    async close() {
      isClosing = true
      clearTimeout(timer)
      if (child !== undefined) await end(child)
      await relay.drained()
    },
  }
}

function spawnConsole({ configFile, config, host, isTerminal }: ConsoleProcessParts): ChildProcess {
  const { execPath, execArgv, argv, env } = host
  const file = configFile === undefined ? [] : ['--config', configFile]
  // The output of the child is a pipe, so it cannot see whether a terminal shows the log.
  const format = isTerminal ? 'text' : 'json'
  const own = config.logger.format === 'auto' ? { POSTERN_LOGGER__FORMAT: format } : {}
  return spawn(
    execPath,
    // A debugger has one port, which the gateway uses.
    [
      ...execArgv.filter((each) => !each.startsWith('--inspect')),
      argv[1] ?? '',
      'console',
      ...file,
    ],
    { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], env: { ...env, ...own } },
  )
}

function addressIn(message: unknown): string | undefined {
  const { address } = message as { readonly address?: unknown }
  return typeof address === 'string' ? address : undefined
}

async function end(child: ChildProcess): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  child.once('exit', () => resolve())
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), closeMs)
  await promise
  clearTimeout(timer)
}
