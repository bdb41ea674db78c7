import type { Socket } from 'node:net'
import { nextTick, platform } from 'node:process'
import { createAnswerReader, type Progress } from './answer-reader.ts'
import type { Connector } from './connect.ts'
import { atEndOfTurn, callBegan, callEnded } from './end-of-turn.ts'
import { hasPeerClosed } from './peer-closed.ts'
import { mayRepeat } from './repeatable.ts'
import type { AnswerHandler, WireRequest } from './request-head.ts'
import { sendUpload } from './upload.ts'
import { type HowFar, Malformed, unsent, WireError, type WireProblem } from './wire-error.ts'

/** A request that somebody waits for. */
export interface Call {
  readonly request: WireRequest
  /** Its bytes before the body. */
  readonly head: string
  readonly handler: AnswerHandler
  /** Whether it needs a connection that no other request has used. */
  readonly fresh: boolean
  /** The connection it has, while it has one. */
  connection: Connection | undefined
  over: boolean
}

/** How many beats of the pool's clock each wait may last. */
interface Patience {
  readonly connect: number
  readonly answer: number
  readonly body: number
}

/** One connection, with one request at a time: more would make one caller's answer another's. */
export interface Connection {
  /** Whether it is there and has nothing to do. */
  readonly isFree: () => boolean
  /** Sends a request. It must be free. */
  readonly start: (call: Call) => void
  readonly resume: () => void
  /** Ends it, without a word to whoever waits on it. */
  readonly abandon: () => void
  /** Ends it; the request that is under way fails. */
  readonly destroy: () => void
  /** The clock of the pool: ends what has lasted too long. */
  readonly beat: () => void
  /** For how many seconds the server keeps it, as far as it has said so. */
  readonly keptSeconds: () => number | undefined
  /** For how many milliseconds it has been idle. */
  readonly idleMs: () => number
}

interface ConnectionParts {
  readonly connector: Connector
  readonly patience: Patience
  /** Whether it is for one request only, after which its bytes are somebody else's. */
  readonly forUpgrade: boolean
  /** It is there, or its request is over and another one may follow. */
  readonly onFree: (connection: Connection) => void
  /** It will not be there: with the reason, if it never was. */
  readonly onGone: (connection: Connection, neverThere: Error | undefined) => void
}

/**
 * What every connection reads into: it is used up before the next one reads. On Windows, reads are
 * begun ahead of time, so that one buffer for all would be written to by several at once.
 */
const shared = platform === 'win32' ? undefined : Buffer.allocUnsafeSlow(65_536)

/** A connection that was free for less is not worth the system call that asks whether it is closed. */
const idleAfterMs = 1

/** Begins to connect. */
export function openConnection(parts: ConnectionParts): Connection {
  const { connector, patience, onFree, onGone } = parts
  const isSecure = connector.readyEvent === 'secureConnect'
  let ready = false
  let gone = false
  let call: Call | undefined
  let departed = false
  let heard = false
  let hasServed = false
  /** Whether the connection had another request before, or was idle, when this one got it. */
  let reused = false
  let wasIdle = false
  let freeSince = 0
  let paused = false
  let uploading = false
  let blocked = false
  let beatsLeft = patience.connect
  let failure: Error | undefined

  const reader = createAnswerReader({
    whole: (head, body) => call?.handler.whole(head, body),
    head: (head) => call?.handler.head(head),
    data(chunk, release) {
      if (call !== undefined && !call.handler.data(chunk, release)) paused = true
    },
    switched(head, rest) {
      leave()
      socket.pause()
      socket.unshift(rest)
      call?.handler.upgraded(head, socket)
      over()
    },
  })

  // A tunnel needs the stream; everything else does better without.
  const buffer = shared ?? Buffer.allocUnsafeSlow(65_536)
  const socket: Socket = connector.open(
    parts.forUpgrade ? undefined : { buffer, callback: (count) => take(buffer.subarray(0, count)) },
  )
  if (parts.forUpgrade) socket.on('data', take)
  socket.on(connector.readyEvent, onReady)
  socket.on('end', onEnd)
  socket.on('error', onError)
  socket.on('close', onClose)
  socket.on('drain', onDrain)

  function onReady(): void {
    ready = true
    freeSince = performance.now()
    onFree(connection)
  }
  function onEnd(): void {
    if (call !== undefined && reader.endsHere()) settle('over', call)
    else fail('closed', 'connection closed by the upstream')
  }
  function onError(error: NodeJS.ErrnoException): void {
    failure ??= new WireError(error.code ?? 'closed', error.message, howFar(), error)
    failWith(failure)
  }
  function onClose(): void {
    fail('closed', 'connection closed by the upstream')
    if (gone) return
    gone = true
    onGone(connection, ready ? undefined : (failure ?? new WireError('closed', 'closed', unsent)))
  }
  function onDrain(): void {
    if (!blocked) return
    blocked = false
    waitAnew()
    if (uploading) call?.request.upload?.resume()
  }

  function howFar(): HowFar {
    return { sent: departed, heard, reused }
  }
  /** The request has ended, in whatever way: gives it back, and forgets it. */
  function over(): Call | undefined {
    const done = call
    call = undefined
    paused = false
    if (done !== undefined) {
      callEnded()
      done.over = true
      done.connection = undefined
    }
    return done
  }
  function destroy(): void {
    socket.destroy()
  }
  function failWith(error: Error): void {
    const done = over()
    destroy()
    done?.handler.failed(error)
  }
  function fail(problem: WireProblem, message: string): void {
    if (call !== undefined) failWith(new WireError(problem, message, howFar()))
    else destroy()
  }
  /** What was read is no answer, or its handler cannot go on with it. */
  function failReading(error: unknown): void {
    failWith(
      error instanceof Malformed
        ? new WireError('malformed', error.message, howFar())
        : (error as Error),
    )
  }
  /** Nothing here listens to the socket any more. */
  function leave(): void {
    socket.off('data', take)
    socket.off('end', onEnd)
    socket.off('error', onError)
    socket.off('close', onClose)
    socket.off('drain', onDrain)
    socket.on('error', () => {})
    gone = true
    onGone(connection, undefined)
  }

  /** Whether to go on reading. */
  function take(bytes: Buffer): boolean {
    const current = call
    // What comes when nothing was asked for would be taken for the answer to the next request.
    if (current === undefined || !departed) {
      fail('closed', 'unsolicited data on an idle upstream connection')
      return false
    }
    heard = true
    let progress: Progress
    try {
      progress = reader.read(bytes)
    } catch (error) {
      failReading(error)
      return false
    }
    // It became a tunnel, or its handler gave it up.
    if (call === undefined) return false
    if (progress !== 'more') settle(progress, current, isSecure || bytes.length === buffer.length)
    else if (reader.hasHead()) beatsLeft = patience.body
    if (paused && parts.forUpgrade) socket.pause()
    return !paused
  }

  /** The answer is whole. `mayHoldMore`: whether more may have come with it than was read. */
  function settle(progress: Progress, current: Call, mayHoldMore = false): void {
    try {
      if (reader.isInPieces()) current.handler.end(reader.trailers())
    } catch (error) {
      failReading(error)
      return
    }
    // TLS goes on handing out what it has decrypted when it was told to stop, so that an answer can
    // end while reading is at rest.
    if (paused) socket.resume()
    over()
    // After the last request a server may keep its side open all the same.
    const isLast = current.request.closes === true || reader.lastHead()?.persistent !== true
    if (progress === 'excess' || uploading || isLast) destroy()
    else if (mayHoldMore) setImmediate(offer)
    else offer()
  }
  /** Given to the next request any sooner, a second answer behind the first would be its answer. */
  function offer(): void {
    if (socket.destroyed) return
    hasServed = true
    freeSince = performance.now()
    onFree(connection)
  }

  /** Whether nothing is waited for that the server could do. */
  function isPatient(): boolean {
    if (!ready) return false
    // A client that reads or sends slowly is not the doing of the server.
    return call === undefined || paused || (uploading && !blocked && !reader.hasHead())
  }
  function waitAnew(): void {
    beatsLeft = reader.hasHead() ? patience.body : patience.answer
  }

  /** Whether the server may have closed the connection, and the request could not be sent again. */
  function isRisky({ request }: Call): boolean {
    return wasIdle && !mayRepeat(request)
  }
  function depart(): void {
    const current = call
    // Somebody gave it up in the same turn.
    if (current === undefined) return
    if (!isSecure && isRisky(current) && hasPeerClosed(socket)) {
      // Later: its handler is yet to learn which call it has, and would send another one meanwhile.
      nextTick(fail, 'closed', 'connection closed by the upstream')
      return
    }
    departed = true
    if (current.request.upload === undefined) socket.write(current.head, 'latin1')
    else {
      // Head and the beginning of the body in one packet.
      socket.cork()
      socket.write(current.head, 'latin1')
      startUpload(current)
      nextTick(uncork)
    }
  }
  function uncork(): void {
    socket.uncork()
  }
  function startUpload(current: Call): void {
    const { upload } = current.request
    if (upload === undefined) return
    uploading = true
    sendUpload(upload, socket, {
      isWanted: () => call === current,
      onBlocked() {
        if (blocked) return
        blocked = true
        // A pause in taking a body is to be judged like one in sending it.
        beatsLeft = Math.max(patience.answer, patience.body)
      },
      onSent() {
        uploading = false
        waitAnew()
      },
      onFailed: failWith,
    })
  }

  const connection: Connection = {
    isFree: () => ready && call === undefined && !socket.destroyed,
    start(next) {
      const { request } = next
      wasIdle = connection.idleMs() >= idleAfterMs
      reused = wasIdle || hasServed
      call = next
      next.connection = connection
      departed = false
      heard = false
      uploading = false
      blocked = false
      reader.begin(request.method, request.upgrade)
      beatsLeft = patience.answer
      callBegan()
      next.handler.sent()
      // The bytes of a TLS record are not ours to look at, so let the event loop deliver them.
      if (isSecure && isRisky(next)) setImmediate(setImmediate, depart)
      else atEndOfTurn(depart)
    },
    resume() {
      if (!paused) return
      paused = false
      beatsLeft = patience.body
      socket.resume()
    },
    abandon() {
      over()
      destroy()
    },
    destroy,
    beat() {
      if (isPatient() || --beatsLeft > 0) return
      if (!ready) {
        failure ??= new WireError('connect-timeout', 'connect timeout', unsent)
        destroy()
      } else if (reader.hasHead())
        fail('body-timeout', 'timed out waiting for more of the response body')
      else fail('answer-timeout', 'timed out waiting for the response')
    },
    keptSeconds: () => reader.lastHead()?.keptSeconds,
    idleMs: () => performance.now() - freeSince,
  }
  return connection
}
