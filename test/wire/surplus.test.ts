import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Connection, type PlainCall } from '../../src/wire/connection.ts'
import { PoolTicks } from '../../src/wire/timeout-ticks.ts'
import type { WireError } from '../../src/wire/wire-error.ts'
import { plainGet } from '../support/wire-call.ts'

/*
 * A model of one connection: a server sends more than the response, at any moment before the next request
 * is sent. Over a Unix socket bytes are there as soon as they are written, so each case is one interleaving.
 */

const ticks = new PoolTicks({
  connectTimeoutMs: 60_000,
  headersTimeoutMs: 60_000,
  bodyTimeoutMs: 60_000,
})
const stolen = 'STOLEN'
const surpluses = [
  `HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n${stolen}`,
  `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n${stolen}\r\n0\r\n\r\n`,
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 2',
  stolen,
]
/** When the server sends it. */
const moments = ['with', 'behind', 'at the end', 'when free', 'tick', 'immediate', 'idle'] as const
type Moment = (typeof moments)[number]
/** How many turns of the event loop later the next request is sent. */
const turns = [0, 1, 2, 3] as const
const head = (length: number) => `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n`
/** One read takes 65,536 bytes. */
const lengths = [0, 10, 16_384, 16_385, 65_536 - head(65_000).length, 65_536, 131_072, 216_000]

interface Recorded {
  readonly call: PlainCall
  body: string
  isOver: boolean
  error: WireError | undefined
}

function record(path: string, onEnd: () => void): Recorded {
  const end = () => {
    it.isOver = true
    onEnd()
  }
  const it: Recorded = {
    body: '',
    isOver: false,
    error: undefined,
    call: {
      request: { ...plainGet, path },
      head: `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`,
      fresh: false,
      timeouts: ticks.timeouts(),
      connection: undefined,
      ended: false,
      handler: {
        sent() {},
        complete(_, body) {
          it.body += body
          end()
        },
        head() {},
        data(chunk, release) {
          it.body += chunk.toString('latin1')
          release()
          return true
        },
        end,
        upgraded() {},
        failed(error) {
          it.error = error as WireError
          it.isOver = true
        },
      },
    },
  }
  return it
}

describe('bytes behind a response', () => {
  const directory = mkdtempSync(join(tmpdir(), 'postern-surplus-'))
  const path = join(directory, 'socket')
  let server: Server
  let accepted: ((socket: Socket) => void) | undefined
  beforeAll(async () => {
    server = createServer((socket) => accepted?.(socket))
    server.listen(path)
    await once(server, 'listening')
  })
  afterAll(() => {
    server.close()
    rmSync(directory, { recursive: true })
  })

  /** Returns what the second caller got; `undefined` if it got no connection. */
  async function play(length: number, surplus: string, moment: Moment, later: number) {
    const peer = new Promise<Socket>((resolve) => {
      accepted = resolve
    })
    let isGone = false
    let onFree = (): void => {}
    const free = new Promise<void>((resolve) => {
      onFree = resolve
    })
    const connection = new Connection({
      connector: {
        readyEvent: 'connect',
        open: (onread) => connect({ path, ...(onread !== undefined && { onread }) } as never),
      },
      timeouts: ticks.timeouts(),
      forUpgrade: false,
      onFree: () => onFree(),
      onGone: () => {
        isGone = true
      },
    })
    const socket = await peer
    await free
    socket.on('error', () => {})
    const requests: string[] = []
    let hasSurplus = false
    const add = () => {
      if (!socket.destroyed) socket.write(surplus, 'latin1')
      hasSurplus = true
    }
    let second: Recorded | undefined
    const sendSecond = async () => {
      for (let turn = 0; turn < later; turn++) await nextTurn()
      if (!connection.isFree()) return
      second = record('/second', () => {})
      connection.start(second.call)
    }
    socket.on('data', (chunk) => {
      requests.push(chunk.toString('latin1'))
      const isFirst = requests.length === 1
      const text = isFirst ? head(length) + '1'.repeat(length) : `${head(6)}second`
      socket.write(isFirst && moment === 'with' ? text + surplus : text, 'latin1')
      if (isFirst && moment === 'with') hasSurplus = true
      if (isFirst && moment === 'behind') add()
    })
    const ended = Promise.withResolvers<void>()
    onFree = () => {
      if (moment === 'when free') add()
      if (hasSurplus && later === 0) void sendSecond()
      ended.resolve()
    }
    const first = record('/first', () => {
      if (moment === 'at the end') add()
      if (moment === 'tick') process.nextTick(add)
      if (moment === 'immediate') setImmediate(add)
    })
    connection.start(first.call)
    while (!first.isOver) await nextTurn()
    if (moment === 'idle') {
      await ended.promise
      add()
    }
    while (!hasSurplus) await nextTurn()
    if (second === undefined) await sendSecond()
    for (let turn = 0; turn < 200 && second?.isOver === false; turn++) await nextTurn()
    connection.destroy()
    socket.destroy()
    while (!isGone) await nextTurn()
    expect(first.body).toBe('1'.repeat(length))
    return second as Recorded | undefined
  }

  test.each(moments)('sent %s are never the response of the next request', async (moment) => {
    let tried = 0
    for (const length of lengths) {
      for (const surplus of surpluses) {
        for (const later of turns) {
          const second = await play(length, surplus, moment, later)
          if (second === undefined) continue
          tried++
          const { body, error } = second
          const which = JSON.stringify({ length, surplus, later, body: body.slice(0, 20) })
          // It was never sent, so another connection may carry it, whatever it is.
          expect([which, error?.sent, error?.heard]).toEqual([which, false, false])
        }
      }
    }
    // Else nothing was tried: at these moments the connection looks free.
    if (moment === 'when free' || moment === 'idle') expect(tried).toBeGreaterThan(20)
  })

  test('whatever they are and whenever they come, reach no other caller', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.constantFrom(...lengths), fc.nat({ max: 220_000 })),
        fc.oneof(fc.constantFrom(...surpluses), fc.string({ minLength: 1, maxLength: 300 })),
        fc.constantFrom(...moments),
        fc.constantFrom(...turns),
        async (length, surplus, moment, later) => {
          const second = await play(length, surplus, moment, later)
          expect(second?.body ?? '').toBe('')
          expect(second?.error?.sent ?? false).toBe(false)
        },
      ),
      { numRuns: 300 },
    )
  })
})
