import type { RedisCommander } from 'ioredis'
import { withTimeout } from '../../background/with-timeout.ts'
import { Fault, Invalid } from '../../kernel/errors.ts'
import { fill } from '../../kernel/fill.ts'
import { BULK_FACTOR, createConnection, type RedisSettings } from './redis-connection.ts'
import { readReplicated } from './redis-replication.ts'

export type { RedisSettings } from './redis-connection.ts'

/** A connection for commands. No call outlasts its timeout, whatever the server does. */
export type RedisClient = ReturnType<typeof createRedis>

/** Throws `Invalid` on a URL or prefix that cannot be used. */
export function createRedis(settings: RedisSettings) {
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

  /** One command. Every failure, a timeout included, is a Fault. */
  async function run<T>(
    command: (commands: RedisCommander) => Promise<T>,
    timeoutMs = commandTimeoutMs,
  ): Promise<T> {
    try {
      if (connection.status !== 'ready') throw whyDown ?? new Error('not connected')
      return await withTimeout(timeoutMs, command(connection), opened.doubt)
    } catch (error) {
      throw redisFault(error)
    }
  }

  return {
    /** Every key of Postern begins with this. */
    prefix,
    /** Opens the connection. Throws a Fault when that fails, and keeps trying in the background. */
    async connect() {
      try {
        await withTimeout(connectTimeoutMs, connection.connect())
      } catch (error) {
        whyDown ??= error
        throw redisFault(whyDown)
      }
    },
    run,
    /** Runs a command with more time, for one that carries a whole policy. */
    runBulk: <T>(command: (commands: RedisCommander) => Promise<T>) =>
      run(command, commandTimeoutMs * BULK_FACTOR),
    /** One Lua script over these keys. */
    runScript: (
      script: string,
      keys: readonly string[],
      values: readonly (string | number)[],
    ): Promise<unknown> =>
      run((commands) => commands.eval(script, keys.length, ...keys, ...values)),
    /**
     * Reads a list, and whether every replica has it. Waits for them, and so do commands after it: not
     * for a connection that requests use.
     */
    async readReplicated(list: string) {
      const marker = `${prefix}replicated`
      const read = () => readReplicated(opened, { list, marker, waitMs: commandTimeoutMs })
      return run(read, BULK_FACTOR * commandTimeoutMs)
    },
    /** Calls back at every connection, the first one included. */
    onReady: (listener: () => void) => void connection.on('ready', listener),
    async close() {
      connection.disconnect()
    },
  }
}

/**
 * The connection over which replicas share what is neither a policy nor an account; `undefined`
 * without `redis.url`. An unreachable Redis is retried in the background, and every command is a
 * Fault meanwhile.
 */
export async function openRedis({
  url,
  ...settings
}: Omit<RedisSettings, 'url'> & { readonly url?: string }): Promise<RedisClient | undefined> {
  if (url === undefined) return undefined
  const redis = createRedis({ url, ...settings })
  // The first command reports a failure.
  await redis.connect().catch(() => {})
  return redis
}

/**
 * Keeps only the message of the driver's error: the rest can hold the arguments of the command, and
 * those of AUTH are a password.
 */
function redisFault(error: unknown): Fault | Invalid {
  if (error instanceof Fault || error instanceof Invalid) return error
  const innermostError = innermost(error)
  const cause = new Error(
    `${innermostError instanceof Error ? innermostError.message : innermostError}${keyOf(error)}`,
  )
  return new Fault('redis', { cause, reason: `Redis: ${cause.message}` })
}

function innermost(error: unknown): unknown {
  // An error about several addresses or nodes has its text only in its parts.
  if (error instanceof AggregateError) return error.errors.at(-1) ?? error
  if (error instanceof Error && 'lastNodeError' in error) return error.lastNodeError ?? error
  return error
}

/** An operator who has to fix a key of the wrong type needs its name. */
function keyOf(error: unknown): string {
  if (!(error instanceof Error) || !error.message.startsWith('WRONGTYPE')) return ''
  const { name, args } = (error as { command?: { name?: string; args?: unknown[] } }).command ?? {}
  return name === undefined || name.startsWith('eval') ? '' : ` (${String(args?.[0])})`
}

/**
 * A Lua script from a file beside the module that runs it, with these values for `{{name}}`. Without
 * its comments, because every call sends the script. Read when the module loads: a running gateway must
 * not read the script of another version that was installed meanwhile.
 */
export function loadScript(
  file: URL,
  values: Readonly<Record<string, string | number>> = {},
): string {
  return fill(file, values).replace(/^ *--.*\n/gm, '')
}
