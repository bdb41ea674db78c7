import { createEventReader, type StreamEvent } from './lib/live/event-stream.ts'
import { pause, pauseAfter } from './lib/live/pauses.ts'
import { type Outage, outage, session } from './state/session.ts'

/** The only file that sends requests. Every call is a command of Postern over HTTP. */
export const base = '/console/api/v1/'

export type Parameters = Readonly<Record<string, string | number | boolean | undefined>>

/** What a command printed, and its exit code. */
export interface Answered<T> {
  readonly value: T
  readonly exitCode: number
}

/** A call without an answer. */
export class Problem extends Error {
  /** 0: the console could not be reached. */
  readonly status: number
  readonly messages: readonly string[]
  /** What was refused, in one word for programs: `confirmation-needed`. */
  readonly kind: string | undefined
  /** The document of the response, for callers that know more about it. */
  readonly body: unknown

  constructor(status: number, messages: readonly string[], body?: unknown) {
    super(messages.join('\n'))
    this.status = status
    this.messages = messages
    this.body = body
    this.kind = kindIn(body)
  }
}

function searchOf(parameters: Parameters): string {
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined || value === '' || value === false ? [] : [[name, String(value)]],
  )
  return new URLSearchParams(given).toString()
}

function pathOf(operation: string, parameters: Parameters): string {
  const search = searchOf(parameters)
  return `${operation}${search === '' ? '' : `?${search}`}`
}

interface Asking {
  readonly signal?: AbortSignal
  /** The page is whole without the answer, so a failure is not worth a banner. */
  readonly isOptional?: boolean
}

/** Asks a question: `ask('policy/who', { method: 'GET', path: '/orders' })`. */
export function ask<T>(
  operation: string,
  parameters: Parameters = {},
  { signal, isOptional = false }: Asking = {},
): Promise<Answered<T>> {
  const path = pathOf(operation, parameters)
  const init = { signal: signal ?? null }
  const asked = takeEarly(path, signal)
  if (asked !== undefined) return asked.then((reply) => answerIn<T>(path, reply, isOptional))
  if (isOptional) return untilNeededAreAnswered().then(() => send(path, init, true))
  return asNeeded(send<T>(path, init))
}

type EarlyQuestion = readonly [operation: string | undefined, parameters: Parameters]

/**
 * Asks before there is a page to show the answer: the first `ask` with the same question gets it. `then` is
 * asked after an answer, before the page that gets the answer can ask the same.
 */
export function askEarly(
  operation: string | undefined,
  parameters: Parameters,
  then: readonly EarlyQuestion[] = [],
): void {
  if (operation === undefined) return
  const path = pathOf(operation, parameters)
  const controller = new AbortController()
  const reply = exchange(path, { signal: controller.signal })
  const goOn = (found: Reply | undefined) => {
    if (found?.status === 200) for (const question of then) askEarly(...question)
  }
  reply.then(goOn, () => {})
  early.set(path, { reply: asNeeded(reply), controller })
  setTimeout(forgetEarly, earlyMs)
}

/** Replies for someone else, or that no page has taken, are out of date. */
export function forgetEarly(): void {
  early.clear()
}

interface EarlyReply {
  readonly reply: Promise<Reply | undefined>
  readonly controller: AbortController
}

const early = new Map<string, EarlyReply>()
const earlyMs = 30_000

function takeEarly(path: string, signal?: AbortSignal): EarlyReply['reply'] | undefined {
  const found = early.get(path)
  early.delete(path)
  signal?.addEventListener('abort', () => found?.controller.abort())
  return found?.reply
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

/** The address of what a command prints as CSV, for a link that downloads it. */
export function csvAddress(operation: string, parameters: Parameters): string {
  return `${base}${operation}?${searchOf({ ...parameters, output: 'csv' })}`
}

/** Changes something, or logs in or out. */
export function submit<T>(
  operation: string,
  body: Readonly<Record<string, unknown>> = {},
  { signal, isOptional = false }: Asking = {},
): Promise<Answered<T>> {
  const init = {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    signal: signal ?? null,
  }
  return send(operation, init, isOptional)
}

async function send<T>(path: string, init: RequestInit, isOptional = false): Promise<Answered<T>> {
  return answerIn(path, await exchange(path, init), isOptional)
}

/** A response, read to its end. */
interface Reply {
  readonly status: number
  readonly exitCode: number
  readonly body: unknown
}

/** Sends a request. `undefined`: the console could not be reached. Throws what aborted it. */
async function exchange(path: string, init: RequestInit): Promise<Reply | undefined> {
  try {
    const response = await fetch(base + path, { ...init, redirect: 'error' })
    const exitCode = Number(response.headers.get('Postern-Exit-Code') ?? 0)
    return { status: response.status, exitCode, body: await readBody(response) }
  } catch (error) {
    if (init.signal?.aborted === true) throw error
    return undefined
  }
}

/** The answer in a reply, or a `Problem`. Notes what the reply says about the session and the stores. */
function answerIn<T>(path: string, reply: Reply | undefined, isOptional: boolean): Answered<T> {
  if (reply === undefined) {
    outage.set({ kind: 'network', message: '' })
    throw new Problem(0, [])
  }
  const { status, body, exitCode } = reply
  const isOk = status >= 200 && status < 300
  // What a page can do without says little about what it needs.
  // Whether a session is valid, the stores have decided.
  if ((isOk || status === 401) && !isOptional) outage.set(undefined)
  if (isOk && !isDeclined(body)) return { value: body as T, exitCode }
  const problem = new Problem(status, messagesIn(body), body)
  if (status === 401 && !isLogin(path)) session.set(null)
  if (status === 503 && !isOptional) outage.set({ kind: 'store', message: problem.message })
  throw problem
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
export async function follow(path: string, following: Following): Promise<void> {
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
  path: string,
  { signal, onEvent }: Following,
  { onOpen, onOutage, onRetry }: StreamHooks,
): Promise<Problem> {
  const silence = new AbortController()
  let timer = setTimeout(() => silence.abort(), silenceMs)
  try {
    const response = await fetch(base + path, {
      signal: AbortSignal.any([signal, silence.signal]),
      redirect: 'error',
    })
    if (!response.ok || response.body === null) {
      const body = await readBody(response)
      const problem = new Problem(response.status, messagesIn(body), body)
      if (problem.status === 503) onOutage({ kind: 'store', message: problem.message })
      return problem
    }
    onOpen()
    const read = createEventReader({ onEvent, onRetry })
    const decoder = new TextDecoder()
    for (const reader = response.body.getReader(); ; ) {
      const { done, value } = await reader.read()
      clearTimeout(timer)
      if (done) return new Problem(0, [])
      timer = setTimeout(() => silence.abort(), silenceMs)
      read(decoder.decode(value, { stream: true }))
    }
  } catch {
    if (!signal.aborted) onOutage({ kind: 'network', message: '' })
    return new Problem(0, [])
  } finally {
    clearTimeout(timer)
    silence.abort()
  }
}

/** A command that says no in general, for example to an unknown role, prints errors in place of an answer. */
function isDeclined(body: unknown): boolean {
  const { ok, errors } = (body ?? {}) as { ok?: unknown; errors?: unknown }
  return ok === false && Array.isArray(errors)
}

/** A refused login is the answer to that login, not the end of a session. */
function isLogin(path: string): boolean {
  return path === 'login' || path === 'session/confirm'
}

async function readBody(response: Response): Promise<unknown> {
  const text = await response.text()
  if (!(response.headers.get('Content-Type') ?? '').includes('json')) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function messagesIn(body: unknown): readonly string[] {
  return errorsIn(body).flatMap(({ message }) => (typeof message === 'string' ? [message] : []))
}

function kindIn(body: unknown): string | undefined {
  const kind = errorsIn(body)[0]?.kind
  return typeof kind === 'string' ? kind : undefined
}

function errorsIn(body: unknown): readonly { message?: unknown; kind?: unknown }[] {
  const { errors } = (body ?? {}) as { errors?: unknown }
  return Array.isArray(errors) ? errors : []
}
