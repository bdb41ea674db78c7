import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { CallerSession } from '../access/guard.ts'
import { securityHeaders } from '../headers.ts'
import { Problem } from '../problem.ts'

/** One open stream. */
interface Stream<Events> {
  /** Sends an event, unless the client does not read: then it misses this one. */
  readonly send: <Name extends keyof Events & string>(event: Name, data: Events[Name]) => void
  /** Runs once, however the stream ends. */
  readonly onClose: (work: () => void) => void
}

interface StreamLimits {
  /** Of one account, over all of its sessions. */
  readonly perPerson: number
  readonly all: number
  /** How often sessions are checked. */
  readonly checkMs: number
  /** How often something is sent, so that neither side takes the other for dead. */
  readonly pingMs: number
}

const streamLimits: StreamLimits = { perPerson: 8, all: 64, checkMs: 2000, pingMs: 15_000 }

/** How long a client may take to read the end. */
const endMs = 500

interface OpenStream {
  readonly session: CallerSession
  readonly raw: ServerResponse
  end(): void
}

interface StreamParts {
  /** Why a session is no longer valid. Throws if that cannot be decided. */
  readonly problemOf: (session: CallerSession) => Promise<unknown>
  readonly limits?: StreamLimits
}

/**
 * Server-sent events that stay small: what a client does not read is not kept for it, and each stream
 * ends with its session.
 */
export function createStreams({ problemOf, limits = streamLimits }: StreamParts) {
  const open = new Set<OpenStream>()

  let isChecking = false

  /** One at a time: while a store is unreachable, each takes as long as its timeout. */
  async function check(): Promise<void> {
    if (isChecking) return
    isChecking = true
    await endInvalid()
    isChecking = false
  }

  async function endInvalid(): Promise<void> {
    for (const [, streams] of Map.groupBy(open, ({ session }) => session.id)) {
      const [first] = streams
      if (first === undefined) continue
      // Also when it cannot be decided: the browser asks again, and learns why.
      const problem = await problemOf(first.session).catch((error: unknown) => error)
      if (problem !== undefined) for (const each of streams) each.end()
    }
  }

  function ping(): void {
    for (const { raw } of open) if (!raw.writableNeedDrain) raw.write(': still here\n\n')
  }

  const timers = [setInterval(() => void check(), limits.checkMs), setInterval(ping, limits.pingMs)]

  function start<Events>(reply: FastifyReply, session: CallerSession): Stream<Events> {
    const own = [...open].filter((each) => each.session.userId === session.userId).length
    if (own >= limits.perPerson || open.size >= limits.all) {
      throw new Problem(429, 'too many live pages are open: close one of them')
    }
    const { raw } = reply
    const works: (() => void)[] = []
    let isEnded = false
    reply.hijack()

    function release(): void {
      if (!open.delete(stream)) return
      // First: a timer that writes after the end would end the process.
      for (const work of works) work()
    }
    const stream: OpenStream = {
      session,
      raw,
      end() {
        isEnded = true
        release()
        raw.end()
        // `end` alone waits for a client that does not read.
        setTimeout(() => raw.destroy(), endMs).unref()
      },
    }
    open.add(stream)
    raw.on('error', release)
    raw.on('close', release)
    // No hook of fastify runs after `hijack`.
    raw.writeHead(200, {
      ...securityHeaders,
      'content-type': 'text/event-stream',
      'x-accel-buffering': 'no',
      // What the kernel has taken counts as sent: a client that does not read would keep the
      // connection of an ended stream open for as long as an idle one.
      connection: 'close',
    })
    raw.flushHeaders()
    return {
      send(event, data) {
        if (isEnded || raw.destroyed || raw.writableNeedDrain) return
        raw.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
      },
      onClose: (work) => void works.push(work),
    }
  }

  return {
    start,
    check,
    count: () => open.size,
    close() {
      for (const timer of timers) clearInterval(timer)
      for (const each of open) each.end()
    },
  }
}

export type Streams = ReturnType<typeof createStreams>
