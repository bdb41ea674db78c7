import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { ErrorCode } from '../../src/h2/error-codes.ts'
import { FrameReader } from '../../src/h2/frame-reader.ts'
import { FrameType, preface, settingsFrame } from '../../src/h2/frames.ts'
import { median } from '../console/figures.ts'
import { createKinds, type Kind } from './kinds.ts'

export interface AttackOrder {
  /** The name of a kind. */
  readonly kind: string
  readonly token: string
  readonly port: number
  readonly connections: number
  readonly seconds: number
  /** Of all connections together: what comes first limits it. */
  readonly perSecond: number
  readonly bytesPerSecond: number
}

export interface AttackOutcome {
  readonly frames: number
  readonly bytes: number
  readonly connections: number
  /** The connections that the server ended. */
  readonly ended: number
  /** How many frames it had been sent then: the median. */
  readonly endedAfter: number | undefined
  /** What it said then, and how often. */
  readonly reasons: Readonly<Record<string, number>>
}

const tickMs = 5
/** A server that does not read is not sent more. */
const mostUnsent = 262_144
/** Before another connection takes the place of one that the server ended. */
const reconnectMs = 50

/** Floods a server for a while, always with as many connections as it may have. */
export async function attack(order: AttackOrder): Promise<AttackOutcome> {
  const kind = createKinds(order.token).find(({ name }) => name === order.kind)
  if (kind === undefined) throw new Error(`no flood is named ${order.kind}`)
  const stepBytes = sizeOf(kind.again(1))
  const perSecond = Math.min(order.perSecond, order.bytesPerSecond / stepBytes)
  const all: Connection[] = []
  const slots: Connection[] = []
  const open = (slot: number) => {
    const connection = new Connection(order.port, kind)
    slots[slot] = connection
    all.push(connection)
  }
  for (let slot = 0; slot < order.connections; slot++) open(slot)

  const start = performance.now()
  const end = start + order.seconds * 1000
  let due = 0
  for (let last = start; last < end; ) {
    await pause(tickMs)
    const now = performance.now()
    // After a pause of this process it does not send all at once what it is behind.
    due += (Math.min(now - last, 10 * tickMs) / 1000) * perSecond
    last = now
    const share = Math.floor(due / order.connections)
    due -= share * order.connections
    for (const [slot, connection] of slots.entries()) {
      if (connection.endedAt === undefined) connection.send(share)
      else if (now - connection.endedAt > reconnectMs) open(slot)
    }
  }
  const outcome = outcomeOf(all)
  for (const connection of all) connection.close()
  return outcome
}

function outcomeOf(all: readonly Connection[]): AttackOutcome {
  const ended = all.filter(({ endedAt }) => endedAt !== undefined)
  const reasons: Record<string, number> = {}
  for (const { reason } of ended) reasons[reason] = (reasons[reason] ?? 0) + 1
  return {
    frames: all.reduce((sum, { frames }) => sum + frames, 0),
    bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
    connections: all.length,
    ended: ended.length,
    endedAfter: ended.length === 0 ? undefined : median(ended.map(({ frames }) => frames)),
    reasons,
  }
}

/** One connection of the attacker. It reads what the server says, as a real one has to. */
class Connection {
  readonly #socket: Socket
  readonly #kind: Kind
  readonly #reader = new FrameReader()
  #isConnected = false
  #steps = 0
  #nextId: number
  frames = 0
  bytes = 0
  /** When the server ended it, in `performance.now()` time. */
  endedAt: number | undefined
  /** What it said then. */
  reason = ''

  constructor(port: number, kind: Kind) {
    this.#kind = kind
    this.#nextId = kind.first === undefined ? 1 : 3
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.#socket
      .on('connect', () => {
        this.#isConnected = true
        const { settings = [], first = [] } = kind
        this.#socket.write(preface)
        this.#write([settingsFrame(settings), ...first])
      })
      .on('data', (chunk) => this.#read(chunk))
      .on('error', (error: NodeJS.ErrnoException) => this.#end(error.code ?? error.message))
      .on('close', () => this.#end('closed'))
  }

  send(steps: number): void {
    if (!this.#isConnected || this.#socket.writableLength > mostUnsent) return
    const { again, most = Number.POSITIVE_INFINITY } = this.#kind
    const batch: Buffer[] = []
    for (let step = 0; step < steps && this.#steps < most; step++, this.#steps++) {
      batch.push(...again(this.#nextId))
      this.#nextId += 2
    }
    if (batch.length > 0) this.#write(batch)
  }

  close(): void {
    this.#socket.destroy()
  }

  #write(frames: readonly Buffer[]): void {
    const bytes = Buffer.concat(frames)
    this.frames += frames.length
    this.bytes += bytes.length
    this.#socket.write(bytes)
  }

  #read(chunk: Buffer): void {
    if (this.endedAt !== undefined) return
    this.#reader.push(chunk)
    for (let frame = this.#reader.next(); frame !== undefined; frame = this.#reader.next()) {
      if (frame.type === FrameType.goaway) this.#end(nameOf(frame.payload.readUInt32BE(4)))
    }
  }

  #end(reason: string): void {
    if (this.endedAt !== undefined) return
    this.endedAt = performance.now()
    this.reason = reason
    this.#socket.destroy()
  }
}

function nameOf(code: number): string {
  const [name] = Object.entries(ErrorCode).find(([, known]) => known === code) ?? []
  return `GOAWAY ${name ?? code}`
}

function sizeOf(frames: readonly Buffer[]): number {
  return frames.reduce((sum, { length }) => sum + length, 0)
}
