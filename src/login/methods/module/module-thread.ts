import { env } from 'node:process'
import type { Readable } from 'node:stream'
import { MessageChannel, type Worker } from 'node:worker_threads'
import { isolated, startThread } from '../../../background/thread.ts'
import type { LoginRequest } from './contract.ts'
import type { Declaration } from './declaration.ts'
import type { FromThread, ThreadTask, ToThread, VerifyOrder } from './messages.ts'
import { describeThrown } from './thrown-error.ts'

/** What the thread of a module reports. Handlers must not throw. */
interface ThreadEvents {
  /** A text that the module printed. */
  printed(text: string): void
  logged(message: FromThread & { kind: 'log' }): void
  find(username: string): Promise<(ToThread & { kind: 'account' })['account']>
  /** It died by itself, or a call that timed out keeps running: it takes no further calls. */
  lost(reason: string): void
}

/** The outcome of one call, before the result is read. */
type Answer = FromThread & { kind: 'returned' | 'threw' }

/** The outcome of a call that the module did not finish. */
type Unanswered = { readonly kind: 'timed-out' } | { readonly kind: 'died' }

interface OpenCall {
  readonly request: LoginRequest
  readonly settle: (outcome: Answer | Unanswered) => void
}

/** A module that leaks loses its thread, not the gateway its memory. */
const maxHeapMb = 256
/** For imports over a slow disk on a busy machine. */
const loadTimeoutMs = 30_000
/** A module that ignores `signal`, or blocks its thread, has so long after a timeout. */
const graceMs = 1000

const file = new URL(import.meta.url.replace('module-thread', 'module-worker'))

/**
 * One thread with one module:
 *
 *   loading  the file is imported; `loaded` settles
 *   ready    calls run side by side
 *   lost     it died, or it is stuck: open calls may still end, new ones go to the next thread
 */
export class ModuleThread {
  /** Rejects when the module cannot be used. */
  readonly loaded: Promise<Declaration>
  readonly exited: Promise<void>
  readonly #thread: Worker
  readonly #say: (message: ToThread) => void
  readonly #events: ThreadEvents
  readonly #open = new Map<number, OpenCall>()
  readonly #graces = new Map<number, NodeJS.Timeout>()
  #calls = 0
  #isLost = false
  #isEnded = false

  constructor(path: string, events: ThreadEvents) {
    this.#events = events
    const { port1: port, port2: threadPort } = new MessageChannel()
    const task: ThreadTask = { file: path }
    const options = {
      workerData: { ...task, port: threadPort },
      transferList: [threadPort],
      ...isolated,
      env: environment(),
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
      ...{ stdout: true, stderr: true },
    }
    this.#say = (message) => port.postMessage(message)
    const loading = Promise.withResolvers<Declaration>()
    this.loaded = loading.promise
    const timer = setTimeout(() => {
      loading.reject(new Error(`did not load within ${loadTimeoutMs / 1000} s`))
    }, loadTimeoutMs)
    const settled = () => clearTimeout(timer)
    this.loaded.then(settled, settled)

    port.on('message', (message: FromThread) => {
      if (message.kind === 'loaded') loading.resolve(message.declaration)
      else if (message.kind === 'unusable') loading.reject(new Error(message.problem))
      else this.#hear(message)
    })
    this.#thread = startThread(file, options, {
      message: () => {},
      end: ({ cause, code }) => {
        const { name, message } = describeThrown(cause)
        const reason =
          code === undefined ? `its thread died: ${name}: ${message}` : 'its thread exited'
        loading.reject(new Error(reason))
        port.close()
        this.#lose(reason)
        for (const { settle } of [...this.#open.values()]) settle({ kind: 'died' })
      },
    })
    this.exited = new Promise((resolve) => this.#thread.once('exit', () => resolve()))
    for (const stream of [this.#thread.stdout, this.#thread.stderr])
      readTexts(stream, events.printed)
  }

  /** Requests whose values may be in a text of this thread. */
  requests(): readonly LoginRequest[] {
    return [...this.#open.values()].map(({ request }) => request)
  }

  call(order: VerifyOrder, timeoutMs: number): Promise<Answer | Unanswered> {
    const call = ++this.#calls
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#timeOut(call), timeoutMs)
      const settle = (outcome: Answer | Unanswered) => {
        clearTimeout(timer)
        this.#open.delete(call)
        resolve(outcome)
        if (this.#isLost && this.#open.size === 0) void this.end()
      }
      this.#open.set(call, { request: order.request, settle })
      this.#say({ kind: 'verify', call, ...order })
    })
  }

  async end(): Promise<void> {
    this.#isEnded = true
    for (const timer of this.#graces.values()) clearTimeout(timer)
    await this.#thread.terminate()
  }

  #hear(message: Exclude<FromThread, { kind: 'loaded' | 'unusable' }>): void {
    switch (message.kind) {
      case 'log':
        this.#events.logged(message)
        break
      case 'find':
        void this.#find(message)
        break
      default:
        clearTimeout(this.#graces.get(message.call))
        this.#graces.delete(message.call)
        this.#open.get(message.call)?.settle(message)
    }
  }

  async #find({ lookup, username }: FromThread & { kind: 'find' }): Promise<void> {
    const answer = await this.#events.find(username).then(
      (account) => ({ account }),
      () => ({ problem: 'the database cannot be reached' }),
    )
    this.#say({ kind: 'account', lookup, ...answer })
  }

  #timeOut(call: number): void {
    this.#say({ kind: 'abort', call })
    const stuck = 'a login that timed out did not end'
    this.#graces.set(
      call,
      setTimeout(() => this.#lose(stuck), graceMs),
    )
    this.#open.get(call)?.settle({ kind: 'timed-out' })
  }

  #lose(reason: string): void {
    if (this.#isLost || this.#isEnded) return
    this.#isLost = true
    this.#events.lost(reason)
    if (this.#open.size === 0) void this.end()
  }
}

/** A module has no use for the secrets of the gateway, nor for what is preloaded into it. */
function environment(): NodeJS.ProcessEnv {
  const own = ([name]: [string, unknown]) => !name.startsWith('POSTERN_') && name !== 'NODE_OPTIONS'
  return Object.fromEntries(Object.entries(env).filter(own))
}

function readTexts(stream: Readable, printed: (text: string) => void): void {
  stream.setEncoding('utf8')
  stream.on('data', (text: string) => printed(text))
}
