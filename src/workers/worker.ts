import type { Worker } from 'node:cluster'
import type { Config } from '../config/schema/schema.ts'
import type { DecisionBatch } from '../fleet/decision-batch.ts'
import type { ReplicaOnHost } from '../fleet/replica-facts.ts'
import type { OpsParts } from '../http/ops-endpoints.ts'
import type { UpstreamReport } from '../http/sum-upstreams.ts'
import { Fault } from '../kernel/errors.ts'
import type { MetricRegistry } from '../metrics/registry.ts'
import type { Answers, FromWorker, Listening, Question, Start, ToWorker } from './messages.ts'

/** What the ops port shows of one gateway. */
export interface GatewayOps extends OpsParts {
  readonly metrics: MetricRegistry
  readonly upstreams: () => readonly UpstreamReport[]
  readonly replicas: () => readonly ReplicaOnHost[]
  readonly publicKeys: () => readonly object[]
}

/** A gateway that runs in this worker. */
export interface Gateway extends Listening {
  readonly ops: GatewayOps
  takeDecisions(): Promise<readonly DecisionBatch[]>
  /** Serves new requests by this configuration. Throws, after it has logged why, if it cannot. */
  apply(config: Config): Promise<void>
  /** Shuts it down in order, within that time if one is given. */
  close(withinMs?: number): Promise<void>
  /** Closes open connections now. */
  abort(): void
  /** How long a shutdown that has begun may still wait before it closes the listeners. */
  waitMs(): number
  /** Aborted when the shutdown must not wait any longer. */
  readonly abortSignal: AbortSignal
}

export interface WorkParts {
  /** This process as `node:cluster` represents it. */
  readonly worker: Worker
  /** Builds the gateway and listens. */
  readonly serve: (start: Start) => Promise<Gateway>
  /** Settles when this process gets a signal. */
  readonly signal: Promise<void>
}

/** How long the supervisor may take to send the configuration. */
const startMs = 10_000
/** How long a message to the supervisor may take. */
const sendMs = 1000

/**
 * Runs one worker: receives the configuration, serves, answers the supervisor, and shuts down in order
 * after a message or a signal, or when the supervisor exits.
 */
export async function work({ worker, serve, signal }: WorkParts): Promise<void> {
  const start = Promise.withResolvers<Start>()
  const end = Promise.withResolvers<number | undefined>()
  const leave = Promise.withResolvers<void>()
  const bye = Promise.withResolvers<void>()
  let gateway: Gateway | undefined
  /** A configuration that came while the gateway was being built with an older one. */
  let early: Config | undefined
  let configured = Promise.resolve()

  async function onMessage(message: ToWorker): Promise<void> {
    if (message.kind === 'start') start.resolve(message)
    else if (message.kind === 'close') {
      end.resolve(message.withinMs)
      leave.resolve()
    } else if (message.kind === 'leave') leave.resolve()
    else if (message.kind === 'bye') bye.resolve()
    else if (message.kind === 'abort') gateway?.abort()
    else if (message.kind === 'configure') configure(message.config)
    else if (gateway !== undefined) {
      await configured
      const answer = await answerOf(gateway, message.question)
      await send(worker, { kind: 'answer', id: message.id, answer })
    }
  }

  function configure(config: Config): void {
    const running = gateway
    if (running === undefined) early = config
    else configured = configured.then(() => applyTo(running, config))
  }

  async function applyTo(running: Gateway, config: Config): Promise<void> {
    const problem = await running.apply(config).then(
      () => undefined,
      (error: Error) => error.message,
    )
    await send(worker, { kind: 'configured', problem })
  }

  worker.on('message', (message: ToWorker) => void onMessage(message))
  // A failed send means that the supervisor is exiting; `disconnect` follows.
  worker.on('error', () => {})
  worker.on('disconnect', () => {
    // Else Node would exit at once, in the middle of responses.
    worker.exitedAfterDisconnect = true
    start.reject(new Fault('workers', { reason: 'the supervisor exited' }))
    end.resolve(undefined)
    leave.resolve()
    bye.resolve()
  })
  void signal.then(() => end.resolve(undefined))

  await send(worker, { kind: 'hello' })
  const ended = end.promise.then(() => undefined)
  const begin = await Promise.race([inTime(startMs, start.promise), ended])
  if (begin === undefined) return
  gateway = await serve(begin)
  if (early !== undefined) configure(early)
  await configured
  const { publicPort, forwardAuthPort, revision, ops } = gateway
  await send(worker, { kind: 'listening', publicPort, forwardAuthPort, revision })
  const withinMs = await end.promise
  if (withinMs === undefined) await mayLeave(worker, gateway, leave.promise)
  await send(worker, { kind: 'closing' })
  await gateway.close(withinMs)
  await send(worker, { kind: 'counted', metrics: await ops.metrics.snapshot() })
  // Until the supervisor has read `closing`, it may hand over connections. This process returns them; if
  // it had exited, they would stay open in the supervisor without an answer.
  const late = setTimeout(bye.resolve, sendMs)
  if (worker.isConnected()) await bye.promise
  clearTimeout(late)
}

async function answerOf(
  { ops, takeDecisions }: Gateway,
  question: Question,
): Promise<Answers[Question]> {
  if (question === 'metrics') return ops.metrics.snapshot()
  if (question === 'ownMetrics') return ops.metrics.snapshot('own')
  if (question === 'upstreams') return ops.upstreams()
  if (question === 'replicas') return ops.replicas()
  if (question === 'decisions') return (await takeDecisions())[0] ?? { decisions: [], leftOut: 0 }
  return question === 'readiness' ? ops.readiness(true) : ops.publicKeys()
}

/**
 * A port without a listening worker refuses connections. So a worker that got a signal of its own asks
 * first, and serves until another one listens or its own time runs out.
 */
async function mayLeave(worker: Worker, gateway: Gateway, leave: Promise<void>): Promise<void> {
  await send(worker, { kind: 'leaving' })
  const outOfTime = Promise.withResolvers<void>()
  const timer = setTimeout(outOfTime.resolve, gateway.waitMs())
  gateway.abortSignal.addEventListener('abort', () => outOfTime.resolve())
  if (gateway.abortSignal.aborted || !worker.isConnected()) outOfTime.resolve()
  await Promise.race([leave, outOfTime.promise])
  clearTimeout(timer)
}

/** Settles when the message is sent, or cannot be. */
function send(worker: Worker, message: FromWorker): Promise<void> {
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
