import { once } from 'node:events'
import { createConnection, type Socket } from 'node:net'
import type { PGliteQueryResults } from 'kysely'
import { Fault } from '../../kernel/errors.ts'
import type { EmbeddedSession } from './embedded-session.ts'
import { onFrames, sendFrame, type WireReply, type WireRequest } from './embedded-wire.ts'

/**
 * Reaches the embedded database through the process that has it open. `undefined` when no process
 * listens there. A request that times out or loses its connection fails and is not retried, because
 * it may have been executed.
 */
export async function connectEmbedded(
  socketPath: string,
  timeoutMs: number,
): Promise<EmbeddedSession | undefined> {
  const socket = await connect(socketPath)
  if (socket === undefined) return undefined

  // The host answers in order, so an answer belongs to the oldest open request.
  const waiting: { resolve(reply: WireReply): void; reject(error: Error): void }[] = []
  let lost = false

  onFrames(socket, (frame) => waiting.shift()?.resolve(frame as WireReply))
  socket.on('error', () => socket.destroy())
  socket.on('end', () => socket.destroy())
  socket.on('close', () => {
    lost = true
    for (const { reject } of waiting.splice(0)) reject(gone())
  })

  async function ask<Row>(request: WireRequest): Promise<PGliteQueryResults<Row>> {
    if (lost) throw gone()
    const { promise, resolve, reject } = Promise.withResolvers<WireReply>()
    waiting.push({ resolve, reject })
    sendFrame(socket as Socket, request)
    const timer = setTimeout(() => socket?.destroy(), timeoutMs)
    const reply = await promise.finally(() => clearTimeout(timer))
    if ('error' in reply) throw Object.assign(new Error(reply.error.message), reply.error)
    return { fields: [], ...reply, rows: reply.rows as Row[] }
  }

  const query = <Row>(sql: string, params: readonly unknown[] = []) =>
    ask<Row>({ op: 'query', sql, params })

  return {
    query,
    async transaction(work) {
      await ask({ op: 'begin' })
      try {
        const result = await work({ query, rollback: async () => void (await abandon()) })
        await ask({ op: 'commit' })
        return result
      } catch (error) {
        await abandon()
        throw error
      }
    },
    lost: () => lost,
    async close() {
      if (lost) return
      socket.destroy()
      await once(socket, 'close')
    },
  }

  async function abandon(): Promise<void> {
    if (!lost) await ask({ op: 'rollback' })
  }
}

function gone(): Fault {
  return new Fault('database', {
    reason: 'the process that holds the embedded database exited or does not answer',
  })
}

async function connect(socketPath: string): Promise<Socket | undefined> {
  const socket = createConnection(socketPath)
  try {
    await once(socket, 'connect')
    return socket
  } catch (error) {
    socket.destroy()
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return undefined
    throw new Fault('database', {
      cause: error,
      reason:
        code === 'EACCES'
          ? `the embedded database at ${socketPath} belongs to another user`
          : `the embedded database at ${socketPath} is unreachable`,
    })
  }
}
