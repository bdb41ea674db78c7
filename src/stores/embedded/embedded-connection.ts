import type { Socket } from 'node:net'
import type { PGlite, PGliteTransaction } from 'kysely'
import { onFrames, sendFrame, type WireReply, type WireRequest } from './embedded-wire.ts'

/** How long an open transaction may be idle; it blocks all other queries. */
const idleTimeoutMs = 5_000

/**
 * Answers one other process, a request at a time and in order. A transaction that it leaves open,
 * by disconnecting or by going idle, is rolled back. Returns a function that answers what has
 * arrived and then ends the connection.
 */
export function answerConnection(
  socket: Socket,
  database: Pick<PGlite, 'query' | 'transaction'>,
): () => Promise<void> {
  let transaction: Awaited<ReturnType<typeof openTransaction>> | undefined
  let work = Promise.resolve()
  let silence: NodeJS.Timeout | undefined

  onFrames(socket, (frame) => {
    clearTimeout(silence)
    work = work.then(() => reply(frame as WireRequest))
  })
  socket.on('error', () => socket.destroy())
  socket.on('close', () => {
    clearTimeout(silence)
    work = work.then(abandon)
  })

  async function reply(request: WireRequest): Promise<void> {
    const answer = await carryOut(request).catch(toWireError)
    if (socket.writable) sendFrame(socket, answer)
    if (transaction !== undefined) silence = setTimeout(() => socket.destroy(), idleTimeoutMs)
  }

  async function carryOut(request: WireRequest): Promise<WireReply> {
    switch (request.op) {
      case 'begin':
        transaction ??= await openTransaction(database)
        return { rows: [] }
      case 'commit': {
        const open = transaction
        transaction = undefined
        await open?.commit()
        return { rows: [] }
      }
      case 'rollback':
        await abandon()
        return { rows: [] }
      case 'query': {
        const executor = transaction?.inside ?? database
        const { rows, affectedRows } = await executor.query<Record<string, unknown>>(request.sql, [
          ...request.params,
        ])
        return affectedRows === undefined ? { rows } : { rows, affectedRows }
      }
    }
  }

  async function abandon(): Promise<void> {
    const open = transaction
    transaction = undefined
    await open?.rollback()
  }

  return async () => {
    await work
    await abandon()
    socket.destroySoon()
  }
}

/** PGlite's transaction is a callback; this keeps it open between requests. */
async function openTransaction(database: Pick<PGlite, 'transaction'>) {
  const begun = Promise.withResolvers<PGliteTransaction>()
  const end = Promise.withResolvers<void>()
  const ended = database.transaction(async (inside) => {
    begun.resolve(inside)
    await end.promise
  })
  ended.catch(begun.reject)

  return {
    inside: await begun.promise,
    async commit() {
      end.resolve()
      await ended
    },
    async rollback() {
      end.reject(new Error('rolled back'))
      await ended.catch(() => {})
    },
  }
}

function toWireError(error: unknown): WireReply {
  if (!(error instanceof Error)) return { error: { message: String(error) } }
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {}
  return { error: { message: error.message, ...code } }
}
