import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

export interface CallOrder {
  readonly port: number
  readonly path: string
  readonly token: string
  readonly perSecond: number
  readonly seconds: number
}

export interface CallOutcome {
  /** Of every call, from its start to its end, whatever became of it. */
  readonly milliseconds: readonly number[]
  /** Those that were answered with 200. */
  readonly good: number
  /** What became of the others, and how often. */
  readonly bad: Readonly<Record<string, number>>
}

/** One in so many calls comes on a new connection. */
const newConnectionEvery = 10
const timeoutMs = 10_000

/** A good client from another address: calls at a rate, whatever the answers do. */
export async function makeCalls(order: CallOrder): Promise<CallOutcome> {
  const milliseconds: number[] = []
  const bad: Record<string, number> = {}
  let good = 0
  let kept = open(order.port)

  async function call(isNew: boolean): Promise<void> {
    if (!isNew && (kept.closed || kept.destroyed)) kept = open(order.port)
    const since = performance.now()
    const session = isNew ? open(order.port) : kept
    const outcome = await callOnce(session, order).catch(({ message }: Error) => message)
    milliseconds.push(performance.now() - since)
    if (outcome === '200') good++
    else bad[outcome] = (bad[outcome] ?? 0) + 1
    if (isNew) session.destroy()
  }

  const calls: Promise<void>[] = []
  const start = performance.now()
  const total = Math.round(order.perSecond * order.seconds)
  while (calls.length < total) {
    const due = Math.min(total, ((performance.now() - start) * order.perSecond) / 1000)
    while (calls.length < due) calls.push(call(calls.length % newConnectionEvery === 0))
    await pause(1)
  }
  await Promise.all(calls)
  kept.destroy()
  return { milliseconds, good, bad }
}

function open(port: number): ClientHttp2Session {
  const session = connectHttp2('http://gateway.test', {
    createConnection: () => connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' }),
  })
  // Its streams report the same.
  return session.on('error', () => {})
}

/** The status, or what went wrong. Rejects if the session takes no calls any more. */
function callOnce(session: ClientHttp2Session, { path, token }: CallOrder): Promise<string> {
  return new Promise((resolve) => {
    let outcome = 'no response'
    const stream = session.request({ ':path': path, authorization: `Bearer ${token}` })
    stream
      .on('response', (head) => {
        outcome = String(head[':status'])
      })
      .on('error', ({ message }: Error) => {
        outcome = message
      })
      .on('close', () => resolve(outcome))
      .resume()
    stream.setTimeout(timeoutMs, () => {
      outcome = 'timeout'
      stream.close()
    })
  })
}
