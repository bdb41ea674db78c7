import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { repeatOf } from '../../src/gateway/upstream/upstream-errors.ts'
import { Connection, type PlainCall } from '../../src/wire/connection.ts'
import type { Upload, UploadSink, WireRequest } from '../../src/wire/request-head.ts'
import { PoolTicks } from '../../src/wire/timeout-ticks.ts'
import { WireError } from '../../src/wire/wire-error.ts'
import { plainGet } from '../support/wire-call.ts'

/*
 * Random histories of connections to a server that is hostile, or about to close. Callers send requests on
 * connections that are free, or on new ones, and send them again where the gateway would. Each response
 * carries the name of its request. Over a Unix socket bytes are there as soon as they are written, so the
 * server knows whether a surplus comes before the next request: only then it sends one.
 */

const ticks = new PoolTicks({
  connectTimeoutMs: 60_000,
  headersTimeoutMs: 60_000,
  bodyTimeoutMs: 60_000,
})
const maxAttempts = 6
const surpluses = [
  'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nSTOLEN',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nSTOLEN\r\n0\r\n\r\n',
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 2',
  '\r\n',
]
const lengths = [...Array<number>(17).fill(40), 16_385, 70_000, 140_000]

/** The same numbers for the same seed (mulberry32). */
function randomOf(seed: number) {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  return {
    below: (end: number) => Math.floor(next() * end),
    chance: (share: number) => next() < share,
    of: <Item>(items: readonly Item[]) => items[Math.floor(next() * items.length)] as Item,
  }
}
type Random = ReturnType<typeof randomOf>

/** Now, at the next tick, or some turns later. */
async function soon(random: Random): Promise<void> {
  const turns = random.below(6) - 2
  if (turns === -1) await new Promise<void>((resolve) => process.nextTick(resolve))
  for (let turn = 0; turn < turns; turn++) await nextTurn()
}

/** What became of all histories together, so that each thing did happen. */
const tally = { served: 0, reused: 0, unsent: 0, again: 0, surplus: 0, early: 0, lost: 0, left: 0 }

/** A connection as both ends see it. */
interface Line {
  readonly connection: Connection
  /** The requests that the client has begun to write on it. */
  written: number
  /** Those that the server has answered. */
  answered: number
  isTaken: boolean
  /** Whether it has been free for a turn. */
  isOld: boolean
  /** Whether the event loop has not looked for bytes since the server wrote a surplus. */
  isLate: boolean
  /** A request that may be repeated left together with such a surplus, which could as well come after it. */
  isExcused: boolean
}

const path = join(mkdtempSync(join(tmpdir(), 'postern-histories-')), 'socket')
let server: Server
/** Who serves the next connections, in the order in which they were opened. */
const serving: ((socket: Socket) => void)[] = []
beforeAll(async () => {
  server = createServer((socket) => serving.shift()?.(socket))
  server.listen(path, 4096)
  await once(server, 'listening')
})
afterAll(() => {
  server.close()
  rmSync(join(path, '..'), { recursive: true })
})

class History {
  readonly #random: Random
  readonly #lines: Line[] = []
  readonly #sockets: Socket[] = []
  /** What the server has received, by request: the numbers of the attempts. */
  readonly #arrived = new Map<string, number[]>()
  readonly problems: string[] = []

  constructor(seed: number) {
    this.#random = randomOf(seed)
  }

  async play(): Promise<readonly string[]> {
    const callers = Array.from({ length: 1 + this.#random.below(3) }, async (_, caller) => {
      for (let at = 0; at < 3; at++) {
        await this.#request(`${caller}-${at}`)
        await soon(this.#random)
      }
    })
    await Promise.all(callers)
    for (const { connection } of this.#lines) connection.destroy()
    for (const socket of this.#sockets) socket.destroy()
    return this.problems
  }

  /** One caller's request, with what the gateway would send again. */
  async #request(name: string): Promise<void> {
    const random = this.#random
    const method = random.of(['GET', 'GET', 'POST', 'POST', 'PUT'])
    const hasBody = method !== 'GET'
    let starts = 0
    const upload = hasBody ? this.#upload(() => starts++) : undefined
    const request = { ...plainGet, method, upload }
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const line = await this.#lineFor(attempt > 0)
      if (line === undefined) continue
      const result = await this.#attempt(line, request, { name, attempt })
      if (result === 'left') return
      const arrivals = this.#arrived.get(name) ?? []
      if (result instanceof WireError) {
        // What the error says decides about a second attempt, so it must be true: now, and later.
        if (!result.sent && arrivals.includes(attempt)) this.problems.push(`${name} was sent`)
        if (repeatOf(request, result) !== undefined) {
          tally.again++
          continue
        }
        tally.lost++
      } else tally.served++
      break
    }
    await nextTurn()
    const arrivals = this.#arrived.get(name) ?? []
    if (hasBody && arrivals.length > 1) this.problems.push(`${method} ${name} came twice`)
    if (starts > 1) this.problems.push(`the body of ${name} was read twice`)
  }

  /** A connection that is free, or a new one. `undefined`: it was closed before. */
  async #lineFor(fresh: boolean): Promise<Line | undefined> {
    const random = this.#random
    const free = this.#lines.filter((line) => !line.isTaken && line.connection.isFree())
    if (!fresh && free.length > 0 && random.chance(0.9)) {
      const line = random.of(free)
      line.isTaken = true
      if (line.written > 0) tally.reused++
      return line
    }
    const opened = Promise.withResolvers<Line | undefined>()
    const waits = random.chance(0.3)
    serving.push((socket) => this.#serve(line, socket))
    const connection = new Connection({
      connector: {
        readyEvent: 'connect',
        open: (onread) => {
          const socket = connect({ path, ...(onread !== undefined && { onread }) } as never)
          const write = socket.write.bind(socket)
          socket.write = ((data: string | Buffer, ...rest: []) => {
            if (/^[A-Z]+ \//.test(data.toString('latin1', 0, 8))) line.written++
            if (/^GET/.test(data.toString('latin1', 0, 8)) && line.isOld && line.isLate) {
              line.isExcused = true
            }
            return write(data, ...rest)
          }) as Socket['write']
          return socket
        },
      },
      timeouts: ticks.timeouts(),
      forUpgrade: false,
      onFree: () => {
        line.isOld = false
        setImmediate(() => {
          line.isOld = true
        })
        opened.resolve(line)
      },
      onGone: () => opened.resolve(undefined),
    })
    const line: Line = {
      ...{ connection, written: 0, answered: 0, isTaken: true },
      ...{ isOld: false, isLate: false, isExcused: false },
    }
    this.#lines.push(line)
    const found = await opened.promise
    if (found !== undefined && waits) await soon(random)
    return found?.connection.isFree() ? found : undefined
  }

  /** A body that comes in some pieces. */
  #upload(onStart: () => void): Upload {
    const random = this.#random
    const pieces = random.below(3)
    const length = random.chance(0.5) ? pieces * 3 : undefined
    return {
      length,
      start(sink: UploadSink) {
        onStart()
        const rest = async () => {
          for (let piece = 0; piece < pieces; piece++) {
            await soon(random)
            sink.data(Buffer.from('abc'))
          }
          await soon(random)
          sink.end()
        }
        if (pieces === 0 || random.chance(0.5)) {
          for (let piece = 0; piece < pieces; piece++) sink.data(Buffer.from('abc'))
          sink.end()
        } else void rest()
      },
      resume() {},
      stop() {},
    }
  }

  #attempt(
    line: Line,
    request: WireRequest,
    { name, attempt }: { readonly name: string; readonly attempt: number },
  ): Promise<'served' | 'left' | Error> {
    const over = Promise.withResolvers<'served' | 'left' | Error>()
    let body = ''
    let isOver = false
    const end = (result: 'served' | 'left' | Error) => {
      if (isOver) this.problems.push(`${name} ended twice`)
      isOver = true
      line.isTaken = false
      if (result === 'served' && !line.isExcused && !/^(?:(\d+-\d+)#\d+;)?x*$/.test(body)) {
        this.problems.push(`${name} got ${JSON.stringify(body.slice(0, 40))}`)
      }
      const [, owner = name] = /^(\d+-\d+)#/.exec(body) ?? []
      if (owner !== name && !line.isExcused)
        this.problems.push(`${name} got the response of ${owner}`)
      if (result instanceof WireError && !result.sent) tally.unsent++
      over.resolve(result)
    }
    const { length } = request.upload ?? { length: 0 }
    const framing =
      length === undefined ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`
    const head = `${request.method} /${name}#${attempt} HTTP/1.1\r\n${framing}\r\n\r\n`
    const call: PlainCall = {
      ...{ request, head, fresh: false, timeouts: ticks.timeouts() },
      ...{ connection: undefined, ended: false },
      handler: {
        sent() {},
        complete(_, text) {
          body = text
          end('served')
        },
        head() {},
        data(chunk, release) {
          body += chunk.toString('latin1')
          release()
          return true
        },
        end: () => end('served'),
        upgraded: () => this.problems.push(`${name} became a tunnel`),
        failed: end,
      },
    }
    line.connection.start(call)
    if (this.#random.chance(0.05)) {
      void soon(this.#random).then(() => {
        if (isOver) return
        line.connection.abandon()
        tally.left++
        end('left')
      })
    }
    return over.promise
  }

  #serve(line: Line, socket: Socket): void {
    const random = this.#random
    this.#sockets.push(socket)
    socket.on('error', () => {})
    if (random.chance(0.05)) void soon(random).then(() => socket.destroy())
    else if (random.chance(0.03)) void soon(random).then(() => this.#addSurplus(line, socket))
    let unread = ''
    let current = { id: '', isAnswering: true, isAnswered: true }
    socket.on('data', (chunk) => {
      unread += chunk.toString('latin1')
      for (;;) {
        const found =
          /^[A-Z]+ \/((\d+-\d+)#(\d+)) HTTP\/1\.1\r\n(?:Content-Length: (\d+)|.*)\r\n\r\n/.exec(
            unread,
          )
        if (found === null) {
          // Heads come in one piece.
          if (unread !== '') this.problems.push(`a request that begins with ${unread.slice(0, 20)}`)
          if (unread !== '') socket.destroy()
          return
        }
        const [head, id = '', name = '', attempt, length] = found
        const end = length === undefined ? unread.indexOf('0\r\n\r\n') + 5 : head.length + +length
        const isComplete = length === undefined ? end > 4 : unread.length >= end
        if (current.id !== id) {
          if (!current.isAnswered) this.problems.push(`${id} came before the response of another`)
          current = { id, isAnswering: false, isAnswered: false }
          this.#arrived.set(name, [...(this.#arrived.get(name) ?? []), Number(attempt)])
        }
        // Sometimes early: in the middle of the body.
        const isEarly = !isComplete && random.chance(0.2)
        if (isEarly) tally.early++
        if ((isComplete || isEarly) && !current.isAnswering) {
          const own = current
          own.isAnswering = true
          void this.#answer(line, socket, `${id};`).then(() => {
            own.isAnswered = true
          })
        }
        if (!isComplete) return
        unread = unread.slice(end)
      }
    })
  }

  async #answer(line: Line, socket: Socket, mark: string): Promise<void> {
    const random = this.#random
    if (random.chance(0.1)) return void socket.destroy()
    if (random.chance(0.3)) await soon(random)
    const filler = 'x'.repeat(random.of(lengths))
    const body = mark + filler
    const text = random.chance(0.7)
      ? `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`
      : `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
    if (socket.destroyed) return
    if (random.chance(0.05)) {
      socket.write(text.slice(0, random.below(text.length)), 'latin1')
      await soon(random)
      return void socket.destroy()
    }
    line.answered++
    const isWith = random.chance(0.1)
    if (isWith) tally.surplus++
    const written = new Promise<void>((resolve) => {
      socket.write(isWith ? text + random.of(surpluses) : text, 'latin1', () => resolve())
    })
    if (random.chance(0.3)) void this.#follow(line, socket, written)
    if (random.chance(0.05)) socket.end()
  }

  /** What comes after a response: more bytes, or the end of the connection. */
  async #follow(line: Line, socket: Socket, written: Promise<void>): Promise<void> {
    if (socket.writableLength > 0) await written
    await soon(this.#random)
    if (this.#random.chance(0.6)) this.#addSurplus(line, socket)
    else if (this.#random.chance(0.5)) socket.end()
    else socket.destroy()
  }

  #addSurplus(line: Line, socket: Socket): void {
    // A request that is under way could not tell them from its response.
    if (line.written > line.answered || socket.destroyed || socket.writableEnded) return
    socket.write(this.#random.of(surpluses), 'latin1')
    tally.surplus++
    line.isLate = true
    setImmediate(setImmediate, () => {
      line.isLate = false
    })
  }
}

/** Plays some histories side by side: with several requests under way, each waits for the end of its turn. */
async function playAll(from: number, count: number, sideBySide: number): Promise<void> {
  for (let first = from; first < from + count; first += sideBySide) {
    const seeds = Array.from({ length: sideBySide }, (_, at) => first + at)
    const found = await Promise.all(seeds.map((seed) => new History(seed).play()))
    expect(found.flatMap((problems, at) => problems.map((each) => [seeds[at], each]))).toEqual([])
  }
}

describe('callers get their own responses, and nothing that may have been acted on is sent twice', () => {
  test('in histories one after the other', () => playAll(1, 200, 1))

  test('in histories side by side', async () => {
    await playAll(1001, 1820, 26)
    // Else some part of the model did not take place.
    for (const count of Object.values(tally)) expect(count).toBeGreaterThan(50)
  })
})
