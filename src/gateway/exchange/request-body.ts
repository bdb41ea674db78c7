import { Refusal } from '../../kernel/errors.ts'
import type { Upload, UploadSink } from '../../wire/request-head.ts'
import type { Body } from '../arrival/arrival.ts'
import type { BodyMemory } from './body-memory.ts'
import type { Transfer, TransferRates } from './transfer-rates.ts'

/** The client's body on its way to an upstream. */
export interface RequestBody extends Upload {
  /** A gRPC call: its messages come while it lasts, some only after messages of the response. */
  readonly isCall: boolean
  /** Whether the client has sent all of it. */
  readonly isComplete: () => boolean
  /** Reads its beginning. Optional; must come before `start`. */
  readonly gather: (most: number, events: GatherEvents) => void
}

/** Exactly one of the two is called, once, unless `stop` comes first. */
interface GatherEvents {
  /** Enough has arrived to send, or all of it. */
  readonly ready: () => void
  /** It will never be complete. */
  readonly failed: (error: Error) => void
}

interface BodyOptions {
  readonly length: number | undefined
  /** Neither gathered nor held to a minimum rate. */
  readonly isCall: boolean
  readonly invite?: () => void
}

export interface BodyLimits {
  readonly maxBytes: number
  readonly rates: TransferRates
  readonly memory: BodyMemory
}

/** The overhead of each chunk. Counting it bounds the memory of a body of many tiny chunks. */
const chunkOverhead = 256

/** The client disconnected, or reset its stream, in the middle of its body. */
export class ClientLeft extends Error {}

/**
 * The client's body, with backpressure, a size limit and a minimum rate. After `stop`, the rest is read
 * and discarded, so that the client can finish sending and read our response. `invite` sends
 * `100 Continue` to a client that expects it.
 *
 *   gathering  buffers the beginning; occupies no connection yet
 *   held       the beginning is buffered; reading is paused until there is a connection
 *   sending    each chunk goes to the upstream as it arrives; `rewind` leads back to held
 */
export function requestBody(
  request: Body,
  { maxBytes, rates, memory }: BodyLimits,
  { length, isCall, invite }: BodyOptions,
): RequestBody {
  let received = 0
  let ahead: Buffer[] = []
  let aheadBytes = 0
  let ended = false
  let isListening = false
  let failure: Error | undefined
  let gathering: { readonly most: number; readonly events: GatherEvents } | undefined
  let sink: UploadSink | undefined
  const transfer: Transfer = {
    bytes: 0,
    since: 0,
    index: -1,
    waitsForClient: () => !request.isPaused(),
    tooSlow: () => fail(new Refusal('body-too-slow')),
  }

  function take(chunk: Buffer): void {
    received += chunk.length
    transfer.bytes += chunk.length
    if (received > maxBytes) fail(new Refusal('body-too-large'))
    else if (gathering !== undefined) keep(chunk, gathering.most)
    else if (sink === undefined) store(chunk)
    else if (sink.data(chunk) === false) request.pause()
  }
  function store(chunk: Buffer): void {
    const bytes = chunk.length + chunkOverhead
    ahead.push(chunk)
    aheadBytes += bytes
    memory.take(bytes)
  }
  function keep(chunk: Buffer, most: number): void {
    store(chunk)
    if (aheadBytes < most && !memory.isFull()) return
    request.pause()
    endGathering()?.ready()
  }
  function endGathering(): GatherEvents | undefined {
    const events = gathering?.events
    gathering = undefined
    return events
  }
  function finish(): void {
    ended = true
    rates.leave(transfer)
    if (gathering !== undefined) endGathering()?.ready()
    else sink?.end()
  }
  // A client that disconnects in the middle must not look like one that finished.
  function cut(): void {
    if (request.complete) return
    fail(
      request.failure ?? new ClientLeft('client closed the connection before the end of its body'),
    )
  }
  function fail(error: Error): void {
    const current = sink
    const events = endGathering()
    failure = error
    stop()
    current?.fail(error)
    events?.failed(error)
  }
  function listen(): void {
    if (isListening) return
    isListening = true
    request.on('data', take)
    request.on('end', finish)
    request.on('close', cut)
    request.on('error', cut)
    if (!request.complete && !isCall) rates.enter(transfer)
    // The client may have disconnected while its token was verified.
    if (request.destroyed || request.failure !== undefined) cut()
    else invite?.()
  }
  function dropAhead(): void {
    memory.give(aheadBytes)
    ahead = []
    aheadBytes = 0
  }
  function stop(): void {
    sink = undefined
    gathering = undefined
    rates.leave(transfer)
    dropAhead()
    if (isListening) {
      isListening = false
      request.off('data', take)
      request.off('end', finish)
      request.off('close', cut)
      request.off('error', cut)
      // Without a listener, an error would be an uncaught exception.
      request.on('error', () => {})
    }
    request.resume()
  }
  function resume(): void {
    rates.restart(transfer)
    request.resume()
  }

  return {
    length,
    isCall,
    isComplete: () => request.complete,
    gather(most, events) {
      gathering = { most, events }
      listen()
    },
    start(to) {
      sink = to
      if (failure !== undefined) {
        fail(failure)
        return
      }
      listen()
      let hasRoom = true
      for (const chunk of ahead) hasRoom = to.data(chunk)
      dropAhead()
      if (sink !== to) return
      if (ended) to.end()
      else if (hasRoom) resume()
    },
    rewind(chunks) {
      sink = undefined
      // The client is paused until there is another connection.
      if (!ended) request.pause()
      for (const chunk of chunks) store(chunk)
    },
    resume,
    stop,
  }
}
