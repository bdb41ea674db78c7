import { type CallableThread, CallTimeout, startCallable } from '../../background/thread.ts'
import { Fault } from '../../kernel/errors.ts'
import type { CallResult, Task } from './perform.ts'

/** What the thread starts with. */
export interface ThreadData {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** The queue is full: the client may try again. */
export class Busy extends Error {}

/** More than a person asks before the first answer, and few enough to be answered within a minute. */
const mostWaiting = 16
const usualLimits = {
  /** Longer than questions about 10,000 rules take, and less than the server waits for a silent connection. */
  longestMs: 50_000,
  /** For a question whose client has gone: most end sooner than a new thread has compiled the policy again. */
  goneMs: 2_000,
}
/** A question that needs more would also fail at a terminal, but must not end the console. */
const maxHeapMb = 2048

interface Waiting {
  readonly task: Task
  readonly resolve: (performed: CallResult) => void
  readonly reject: (reason: unknown) => void
}

/**
 * One thread for questions that need CPU, so that the console stays responsive meanwhile: it starts
 * with the first question and keeps policies compiled for the next one. Questions run one at a time,
 * in order; at most 16 wait, and one whose client has gone does not run, or is stopped. Changes do not
 * wait in that queue, because most of their time they wait for replicas.
 */
export class QuestionThread {
  readonly #file: URL
  readonly #data: ThreadData
  #thread: CallableThread<Task, CallResult> | undefined
  readonly #queue: Waiting[] = []
  readonly #limits: typeof usualLimits
  #asked: Waiting | undefined
  #writing = 0

  constructor(file: URL, data: ThreadData, limits = usualLimits) {
    this.#file = file
    this.#data = data
    this.#limits = limits
  }

  /** Throws `Busy` when too many wait, and a Fault when the thread cannot answer. */
  ask(task: Task, signal: AbortSignal): Promise<CallResult> {
    if (task.kind === 'change') return this.#change(task)
    if (this.#queue.length >= mostWaiting) return Promise.reject(new Busy())
    return new Promise((resolve, reject) => {
      const waiting = { task, resolve, reject }
      signal.addEventListener('abort', () => {
        const at = this.#queue.indexOf(waiting)
        if (at !== -1) this.#queue.splice(at, 1)
        reject(signal.reason)
        if (this.#asked !== waiting) return
        setTimeout(() => this.#asked === waiting && this.#stop(), this.#limits.goneMs).unref()
      })
      this.#queue.push(waiting)
      void this.#next()
    })
  }

  async close(): Promise<void> {
    for (const { reject } of this.#queue.splice(0)) reject(ended())
    await this.#thread?.end()
  }

  async #change(task: Task): Promise<CallResult> {
    this.#writing++
    try {
      return await this.#run(task)
    } finally {
      this.#writing--
    }
  }

  async #next(): Promise<void> {
    if (this.#asked !== undefined) return
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      this.#asked = next
      await this.#run(next.task, this.#limits.longestMs).then(next.resolve, next.reject)
    }
    this.#asked = undefined
  }

  async #run(task: Task, timeoutMs?: number): Promise<CallResult> {
    const thread = this.#thread ?? this.#start()
    try {
      return await thread.call(task, timeoutMs)
    } catch (error) {
      const isLate = error instanceof CallTimeout
      if (isLate) this.#stop()
      throw new Fault('policies', isLate ? this.#tooLate() : whyEnded((error as Error).cause))
    }
  }

  /** A thread that computes cannot be interrupted, only ended; not while it changes something. */
  #stop(): void {
    if (this.#writing > 0) return
    void this.#thread?.end()
    this.#thread = undefined
  }

  #tooLate() {
    return { reason: `no answer within ${this.#limits.longestMs / 1000} s: ask for less` }
  }

  #start(): CallableThread<Task, CallResult> {
    const thread = startCallable<Task, CallResult>(this.#file, {
      workerData: this.#data,
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
      onEnd: () => {
        if (this.#thread === thread) this.#thread = undefined
      },
    })
    this.#thread = thread
    return thread
  }
}

function whyEnded(cause: unknown = ended()): { readonly reason: string; readonly cause: unknown } {
  const { code, message } = cause as NodeJS.ErrnoException
  const isMemory = code === 'ERR_WORKER_OUT_OF_MEMORY'
  return { reason: isMemory ? 'the answer needs too much memory: ask for less' : message, cause }
}

function ended(): Error {
  return new Error('the thread that answers questions has ended')
}
