import type { RedisCommander } from 'ioredis'
import { Fault, Invalid } from '../../errors.ts'
import { withTimeout } from '../with-timeout.ts'
import { BULK_FACTOR, createConnection, type RedisSettings } from './redis-connection.ts'
import { type ReplicatedList, readReplicated } from './redis-replication.ts'

export type { RedisSettings } from './redis-connection.ts'

/** Redis for commands. Nothing here waits longer than its timeout, whatever the server does. */
export interface RedisClient {
  /** Every key of ours begins with this. */
  readonly prefix: string
  /** Opens the connection. Throws a Fault when that fails; trying again goes on all the same. */
  readonly connect: () => Promise<void>
  /** One command. Whatever goes wrong, silence included, is a Fault. */
  readonly run: <T>(command: (commands: RedisCommander) => Promise<T>) => Promise<T>
  /** The same for one that carries a whole policy, with more time. */
  readonly runBulk: <T>(command: (commands: RedisCommander) => Promise<T>) => Promise<T>
  /**
   * Reads a list, and whether every replica has it. Waits for them, and so do commands after it: not
   * for a connection that requests use.
   */
  readonly readReplicated: (list: string) => Promise<ReplicatedList>
  /** Calls back at every connection, the first one included. */
  readonly onReady: (listener: () => void) => void
  readonly close: () => Promise<void>
}

/** Throws `Invalid` on a URL or prefix that cannot be used. */
export function createRedis(settings: RedisSettings): RedisClient {
  const { prefix, connectTimeoutMs, commandTimeoutMs } = settings
  const opened = createConnection(settings)
  const connection = opened.driver
  let whyDown: unknown

  connection.on('error', (error) => {
    whyDown = error
  })
  connection.on('ready', () => {
    whyDown = undefined
  })

  async function run<T>(
    command: (commands: RedisCommander) => Promise<T>,
    timeoutMs = commandTimeoutMs,
  ): Promise<T> {
    try {
      if (connection.status !== 'ready') throw whyDown ?? new Error('not connected')
      return await withTimeout(timeoutMs, command(connection))
    } catch (error) {
      throw redisFault(error)
    }
  }

  return {
    prefix,
    async connect() {
      try {
        await withTimeout(connectTimeoutMs, connection.connect())
      } catch (error) {
        whyDown ??= error
        throw redisFault(whyDown)
      }
    },
    run,
    runBulk: (command) => run(command, commandTimeoutMs * BULK_FACTOR),
    async readReplicated(list) {
      const marker = `${prefix}replicated`
      const read = () => readReplicated(opened, { list, marker, waitMs: commandTimeoutMs })
      return run(read, BULK_FACTOR * commandTimeoutMs)
    },
    onReady: (listener) => void connection.on('ready', listener),
    async close() {
      connection.disconnect()
    },
  }
}

/**
 * The Fault that stands for an error of the driver. Only its message is kept: the rest can hold
 * the arguments of the command, and those of AUTH are a password.
 */
function redisFault(error: unknown): Fault | Invalid {
  if (error instanceof Fault || error instanceof Invalid) return error
  const speaking = innermost(error)
  const cause = new Error(
    `${speaking instanceof Error ? speaking.message : speaking}${keyOf(error)}`,
  )
  return new Fault('redis', { cause, reason: `Redis: ${cause.message}` })
}

function innermost(error: unknown): unknown {
  // Several addresses, or several nodes: the words are in the parts.
  if (error instanceof AggregateError) return error.errors.at(-1) ?? error
  if (error instanceof Error && 'lastNodeError' in error) return error.lastNodeError ?? error
  return error
}

/** Somebody who is to mend a key of the wrong type has to know which one. */
function keyOf(error: unknown): string {
  if (!(error instanceof Error) || !error.message.startsWith('WRONGTYPE')) return ''
  const { name, args } = (error as { command?: { name?: string; args?: unknown[] } }).command ?? {}
  return name === undefined || name.startsWith('eval') ? '' : ` (${String(args?.[0])})`
}
