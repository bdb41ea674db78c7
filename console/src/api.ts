import {
  type Answered,
  createClient,
  type Posts,
  Problem,
  type Questions,
  type Streams,
} from '#client'
import { createEventReader, type StreamEvent } from './lib/live/event-stream.ts'
import { pause, pauseAfter } from './lib/live/pauses.ts'
import { type Outage, outage, session } from './state/session.ts'

/** The only file that calls the management API. */
const client = createClient()

export type Question = keyof Questions
/** What a question may name; its values can be as the address of the page has them. */
export type ParametersOf<Path extends Question> = {
  readonly [Name in keyof Questions[Path]['input']]?: Questions[Path]['input'][Name] | string
}
export type DocumentOf<Path extends Question> = Questions[Path]['document']

/** A call without an answer. Status 0: the console could not be reached. */
export function asProblem(error: unknown): Problem {
  return error instanceof Problem ? error : new Problem(0, undefined)
}

/** What the console said; empty if it said nothing. */
export function textOf({ messages }: Problem): string {
  return messages.join('\n')
}

interface Asking {
  readonly signal?: AbortSignal
  /** The page is whole without the answer, so a failure is not worth a banner. */
  readonly isOptional?: boolean
}

/** Asks a question: `ask('policy/who', { method: 'GET', path: '/orders' })`. */
export async function ask<Path extends Question>(
  path: Path,
  parameters: ParametersOf<Path>,
  asking: Asking = {},
): Promise<Answered<DocumentOf<Path>>> {
  const early = takeEarly<Path>(client.address(path, parameters), asking.signal)
  if (early !== undefined) return noted(path, early, asking)
  if (asking.isOptional) await untilNeededAreAnswered()
  const answer = noted(path, get(path, parameters, asking.signal), asking)
  return asking.isOptional ? answer : asNeeded(answer)
}

function get<Path extends Question>(
  path: Path,
  parameters: ParametersOf<Path>,
  signal: AbortSignal | undefined,
): Promise<Answered<DocumentOf<Path>>> {
  // The console says which values are wrong.
  return client.get(path, parameters as Questions[Path]['input'], { signal })
}

type EarlyQuestion = readonly [path: Question | undefined, parameters: object]

/**
 * Asks before there is a page to show the answer: the first `ask` with the same question gets it. `then` is
 * asked after an answer, before the page that gets the answer can ask the same.
 */
export function askEarly(
  path: Question | undefined,
  parameters: object,
  then: readonly EarlyQuestion[] = [],
): void {
  if (path === undefined) return
  const controller = new AbortController()
  const answer = get(path, parameters, controller.signal)
  const goOn = () => {
    for (const question of then) askEarly(...question)
  }
  answer.then(goOn, () => {})
  early.set(client.address(path, parameters), { answer: asNeeded(answer), controller })
  setTimeout(forgetEarly, earlyMs)
}

/** Answers for someone else, or that no page has taken, are out of date. */
export function forgetEarly(): void {
  early.clear()
}

interface EarlyAnswer {
  readonly answer: Promise<Answered<DocumentOf<Question>>>
  readonly controller: AbortController
}

const early = new Map<string, EarlyAnswer>()
const earlyMs = 30_000

function takeEarly<Path extends Question>(address: string, signal: AbortSignal | undefined) {
  const found = early.get(address)
  early.delete(address)
  signal?.addEventListener('abort', () => found?.controller.abort())
  // The address has the path in it.
  return found?.answer as Promise<Answered<DocumentOf<Path>>> | undefined
}

/** Questions that a page cannot do without. The console answers one at a time. */
const needed = new Set<Promise<unknown>>()

function asNeeded<T>(answer: Promise<T>): Promise<T> {
  needed.add(answer)
  const forget = () => void needed.delete(answer)
  answer.then(forget, forget)
  return answer
}

async function untilNeededAreAnswered(): Promise<void> {
  // Parts of a page ask before the page does.
  await new Promise((resolve) => setTimeout(resolve))
  while (needed.size > 0) await Promise.allSettled(needed)
}

/** The address of an answer as CSV, for a link that downloads it. */
export function csvAddress<Path extends Question>(
  path: Path,
  parameters: ParametersOf<Path>,
): string {
  return client.address(path, { ...parameters, output: 'csv' })
}

/** Changes something, asks about a draft, or logs in or out. */
export function submit<Path extends keyof Posts>(
  path: Path,
  body: Posts[Path]['input'],
  asking: Asking = {},
): Promise<Answered<Posts[Path]['document']>> {
  return noted(path, client.post(path, body, { signal: asking.signal }), asking)
}

/** Notes what an answer says about the session and the stores. */
async function noted<T>(
  path: string,
  answer: Promise<T>,
  { signal, isOptional = false }: Asking,
): Promise<T> {
  // What a page can do without says little about what it needs.
  const show = (found: Outage | undefined) => !isOptional && outage.set(found)
  try {
    const document = await answer
    show(undefined)
    return document
  } catch (error) {
    if (signal?.aborted === true) throw error
    const problem = asProblem(error)
    const { status } = problem
    if (status === 0) outage.set({ kind: 'network', message: '' })
    // Whether a session is valid, the stores have decided.
    else if (status < 300 || status === 401) show(undefined)
    if (status === 401 && !isLogin(path)) session.set(null)
    if (status === 503) show({ kind: 'store', message: textOf(problem) })
    throw problem
  }
}

interface Following {
  readonly signal: AbortSignal
  readonly onEvent: (event: StreamEvent) => void
  /** At each connection. */
  readonly onOpen: () => void
  /** The stream ended or could not be opened; the next attempt follows by itself. */
  readonly onBroken: (problem: Problem) => void
}

/** The server sends something every 15 seconds: a longer silence means that the connection is dead. */
const silenceMs = 40_000
/** A stream that lasted this long was no failure. */
const stableMs = 10_000

/**
 * Follows a stream until the signal ends it, or the session ends: `follow('live/traffic', …)`. After an
 * interruption it connects again, with growing pauses.
 */
export async function follow(path: keyof Streams, following: Following): Promise<void> {
  const { signal, onOpen, onBroken } = following
  let failures = 0
  let firstPauseMs: number | undefined
  let shown: Outage | undefined
  const hooks: StreamHooks = {
    onOpen() {
      // An outage that a question met is for the next question to end.
      if (shown !== undefined && outage.get() === shown) outage.set(undefined)
      onOpen()
    },
    onOutage(found) {
      shown = found
      outage.set(found)
    },
    onRetry(ms) {
      firstPauseMs = ms
    },
  }
  while (!signal.aborted) {
    const startedAt = performance.now()
    const problem = await readStream(path, following, hooks)
    if (signal.aborted) return
    if (problem.status === 401) return session.set(null)
    failures = performance.now() - startedAt > stableMs ? 1 : failures + 1
    onBroken(problem)
    await pause(pauseAfter(failures, Math.random(), firstPauseMs), signal)
  }
}

interface StreamHooks {
  readonly onOpen: () => void
  readonly onOutage: (outage: Outage) => void
  readonly onRetry: (ms: number) => void
}

/** Reads one connection to its end, and says why it ended. */
async function readStream(
  path: keyof Streams,
  { signal, onEvent }: Following,
  { onOpen, onOutage, onRetry }: StreamHooks,
): Promise<Problem> {
  const silence = new AbortController()
  let timer = setTimeout(() => silence.abort(), silenceMs)
  try {
    const { body } = await client.open(path, { signal: AbortSignal.any([signal, silence.signal]) })
    onOpen()
    const read = createEventReader({ onEvent, onRetry })
    const decoder = new TextDecoder()
    for (const reader = body?.getReader(); reader !== undefined; ) {
      const { done, value } = await reader.read()
      clearTimeout(timer)
      if (done) break
      timer = setTimeout(() => silence.abort(), silenceMs)
      read(decoder.decode(value, { stream: true }))
    }
    return asProblem(undefined)
  } catch (error) {
    const problem = asProblem(error)
    const { status } = problem
    if (status === 503) onOutage({ kind: 'store', message: textOf(problem) })
    if (status === 0 && !signal.aborted) onOutage({ kind: 'network', message: '' })
    return problem
  } finally {
    clearTimeout(timer)
    silence.abort()
  }
}

/** A refused login is the answer to that login, not the end of a session. */
function isLogin(path: string): boolean {
  return path === 'login' || path === 'session/confirm'
}
