import { setTimeout as pause } from 'node:timers/promises'
import { longestFlushMs } from '../spans.ts'
import type { Posted } from './post-spans.ts'

interface QueueOptions {
  /** Sends spans, each in its JSON form. Never throws. */
  readonly post: (spans: readonly string[], signal: AbortSignal) => Promise<Posted>
  readonly log: {
    readonly info: (fields: object, message: string) => void
    readonly warn: (fields: object, message: string) => void
  }
  /** How long spans wait for others. */
  readonly delayMs?: number
  /** The pause before the first retry; each further one is twice as long. */
  readonly retryMs?: number
}

const defaultDelayMs = 5000
const defaultRetryMs = 1000
const mostAttempts = 6
const mostSpans = 512
const mostBatchLength = 1_048_576
/** In characters, because clients choose the length of a path. */
const mostWaitingLength = 8_388_608

/** What is sent: whole batches, one of any size before them, or everything. */
type Batches = 'full' | 'one' | 'all'

/**
 * Spans on their way to a collector: sent in batches, one at a time, and repeated while the collector
 * cannot be reached. What does not fit into the queue is dropped and counted; nothing waits for it.
 */
export class SpanQueue {
  readonly #options: Required<QueueOptions>
  readonly #giveUp = new AbortController()
  readonly #closing = new AbortController()
  #waiting: string[] = []
  #length = 0
  #timer: NodeJS.Timeout | undefined
  #sending: Promise<void> | undefined
  #isFailing = false
  #exported = 0
  #dropped = 0

  constructor(options: QueueOptions) {
    this.#options = { delayMs: defaultDelayMs, retryMs: defaultRetryMs, ...options }
  }

  /** Adds what `make` returns. Does not call it while the queue is full. */
  add(make: () => string): void {
    if (this.#closing.signal.aborted || this.#length >= mostWaitingLength) {
      this.#dropped++
      return
    }
    const span = make()
    this.#waiting.push(span)
    this.#length += span.length
    if (this.#sending === undefined) this.#schedule()
  }

  /** How many spans were exported and dropped so far. */
  counts(): { readonly exported: number; readonly dropped: number } {
    return { exported: this.#exported, dropped: this.#dropped }
  }

  /** Sends everything that waits, without retries, for at most `longestFlushMs`. Takes no further spans. */
  async close(): Promise<void> {
    this.#closing.abort()
    clearTimeout(this.#timer)
    const deadline = setTimeout(() => this.#giveUp.abort(), longestFlushMs)
    await this.#sending
    await this.#drain('all')
    clearTimeout(deadline)
  }

  #schedule(): void {
    if (this.#isFull()) this.#send('full')
    else this.#timer ??= setTimeout(() => this.#send('one'), this.#options.delayMs).unref()
  }

  /** Whether a whole batch waits. */
  #isFull(): boolean {
    return this.#waiting.length >= mostSpans || this.#length >= mostBatchLength
  }

  #send(which: Batches): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#sending = this.#drain(which).then(() => {
      this.#sending = undefined
      if (this.#waiting.length > 0 && !this.#closing.signal.aborted) this.#schedule()
    })
  }

  async #drain(which: Batches): Promise<void> {
    if (which === 'one') await this.#deliver(this.#take())
    while (this.#isFull() || (which === 'all' && this.#waiting.length > 0)) {
      await this.#deliver(this.#take())
    }
  }

  #take(): readonly string[] {
    let length = 0
    let count = 0
    while (count < Math.min(mostSpans, this.#waiting.length)) {
      length += this.#waiting[count]?.length ?? 0
      if (count > 0 && length > mostBatchLength) break
      count++
    }
    const batch = this.#waiting.slice(0, count)
    this.#waiting = this.#waiting.slice(count)
    this.#length -= batch.reduce((sum, span) => sum + span.length, 0)
    return batch
  }

  async #deliver(batch: readonly string[]): Promise<void> {
    const { post } = this.#options
    for (let attempt = 1; ; attempt++) {
      const posted = await post(batch, this.#giveUp.signal)
      if (posted.kind === 'accepted') return this.#accepted(batch.length, posted)
      this.#failed(posted.reason)
      if (posted.kind === 'refused' || attempt === mostAttempts) return this.#drop(batch.length)
      if (this.#closing.signal.aborted) return this.#dropAll(batch.length)
      await this.#wait(posted.afterMs ?? this.#options.retryMs * 2 ** (attempt - 1))
    }
  }

  /** Not at once for all gateways: they lost the same collector in the same moment. */
  async #wait(ms: number): Promise<void> {
    const { signal } = this.#closing
    await pause(ms * (1 + Math.random() / 2), undefined, { signal, ref: false }).catch(() => {})
  }

  #accepted(count: number, { rejected, reason }: Posted & { readonly kind: 'accepted' }): void {
    const { log } = this.#options
    this.#exported += Math.max(0, count - rejected)
    if (rejected > 0) {
      this.#drop(rejected)
      log.warn({ spans: rejected, reason }, 'collector rejected spans')
    }
    if (this.#isFailing) log.info({ dropped: this.#dropped }, 'span export recovered')
    this.#isFailing = false
  }

  #failed(reason: string): void {
    if (!this.#isFailing) this.#options.log.warn({ reason }, 'span export failed')
    this.#isFailing = true
  }

  #drop(count: number): void {
    this.#dropped += count
  }

  #dropAll(count: number): void {
    const spans = count + this.#waiting.length
    this.#drop(spans)
    this.#waiting = []
    this.#length = 0
    this.#options.log.warn({ spans }, 'spans dropped at shutdown')
  }
}
