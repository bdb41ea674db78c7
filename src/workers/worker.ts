import type { Worker } from 'node:cluster'
import { Fault } from '../errors.ts'
import type { OpsServerParts } from '../http/ops-server.ts'
import type { Figures } from '../metrics/registry.ts'
import type { Answers, FromWorker, Listening, Question, Start, ToWorker } from './messages.ts'

/** What can be asked of one gateway. */
export interface GatewayOps extends OpsServerParts {
  readonly metrics: Figures
  readonly publicKeys: () => readonly object[]
}

/** A gateway that runs in this worker. */
export interface Gateway extends Listening {
  readonly ops: GatewayOps
  /** Ends it in order, within that time if one is given. */
  close(withinMs?: number): Promise<void>
  /** Cuts what is open. */
  hurry(): void
  /** How long it may wait with its end, once that has begun. */
  waitMs(): number
  /** Fires when the end may not wait any longer. */
  readonly hurried: AbortSignal
}

export interface WorkParts {
  /** This process, as its supervisor knows it. */
  readonly worker: Worker
  /** Builds the gateway and listens. */
  readonly serve: (start: Start) => Promise<Gateway>
  /** Settles when this process is told to end by somebody else than the supervisor. */
  readonly signal: Promise<void>
}

/** How long a supervisor that started us may take to say what to do. */
const startMs = 10_000
/** How long it may take to hear us. */
const sendMs = 1000

/**
 * The life of one worker: hears what to serve, serves, answers its supervisor, and ends in order
 * when it is told to, by whomever, or when the supervisor is gone.
 */
export async function work({ worker, serve, signal }: WorkParts): Promise<void> {
  const start = Promise.withResolvers<Start>()
  const end = Promise.withResolvers<number | undefined>()
  const leave = Promise.withResolvers<void>()
  const bye = Promise.withResolvers<void>()
  let gateway: Gateway | undefined

  async function hear(message: ToWorker): Promise<void> {
    if (message.kind === 'start') start.resolve(message)
    else if (message.kind === 'close') {
      end.resolve(message.withinMs)
      leave.resolve()
    } else if (message.kind === 'leave') leave.resolve()
    else if (message.kind === 'bye') bye.resolve()
    else if (message.kind === 'hurry') gateway?.hurry()
    else if (gateway !== undefined) {
      const answer = await answerOf(gateway, message.question)
      await tell(worker, { kind: 'answer', id: message.id, answer })
    }
  }

  worker.on('message', (message: ToWorker) => void hear(message))
  // That the supervisor cannot be told shows in its end.
  worker.on('error', () => {})
  worker.on('disconnect', () => {
    // Else Node ends this process at once, with all that it is answering.
    worker.exitedAfterDisconnect = true
    start.reject(new Fault('workers', { reason: 'the supervisor exited' }))
    end.resolve(undefined)
    leave.resolve()
    bye.resolve()
  })
  void signal.then(() => end.resolve(undefined))

  await tell(worker, { kind: 'hello' })
  const isOver = end.promise.then(() => undefined)
  const begin = await Promise.race([inTime(startMs, start.promise), isOver])
  if (begin === undefined) return
  gateway = await serve(begin)
  const { publicPort, forwardAuthPort, revision, ops } = gateway
  await tell(worker, { kind: 'listening', publicPort, forwardAuthPort, revision })
  const withinMs = await end.promise
  if (withinMs === undefined) await mayLeave(worker, gateway, leave.promise)
  await tell(worker, { kind: 'closing' })
  await gateway.close(withinMs)
  await tell(worker, { kind: 'counted', figures: await ops.metrics.snapshot() })
  // Until the supervisor has read that we close, it may hand us connections. We give them back; if we
  // had ended, they would stay open in the supervisor without an answer.
  const late = setTimeout(bye.resolve, sendMs)
  if (worker.isConnected()) await bye.promise
  clearTimeout(late)
}

async function answerOf({ ops }: Gateway, question: Question): Promise<Answers[Question]> {
  if (question === 'figures') return ops.metrics.snapshot()
  if (question === 'ownFigures') return ops.metrics.snapshot('own')
  return question === 'readiness' ? ops.readiness(true) : ops.publicKeys()
}

/**
 * A port that no worker listens on refuses connections. So a worker that got a signal of its own asks
 * first, and serves until another one listens or its own time runs out.
 */
async function mayLeave(worker: Worker, gateway: Gateway, leave: Promise<void>): Promise<void> {
  await tell(worker, { kind: 'leaving' })
  const outOfTime = Promise.withResolvers<void>()
  const timer = setTimeout(outOfTime.resolve, gateway.waitMs())
  gateway.hurried.addEventListener('abort', () => outOfTime.resolve())
  if (gateway.hurried.aborted || !worker.isConnected()) outOfTime.resolve()
  await Promise.race([leave, outOfTime.promise])
  clearTimeout(timer)
}

/** Returns when it was sent, or is not going to be. */
function tell(worker: Worker, message: FromWorker): Promise<void> {
  if (!worker.isConnected()) return Promise.resolve()
  return new Promise((resolve) => {
    setTimeout(resolve, sendMs).unref()
    worker.send(message, () => resolve())
  })
}

async function inTime<T>(ms: number, word: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const silent = new Fault('workers', { reason: 'no message from the supervisor' })
  const timer = setTimeout(() => reject(silent), ms)
  try {
    return await Promise.race([word, promise])
  } finally {
    clearTimeout(timer)
  }
}
