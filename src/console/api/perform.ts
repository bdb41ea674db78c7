import { jsonLine, jsonPieces } from '../../cli/format.ts'
import type { Context, DraftDirectory, Surroundings } from '../../operations/context.ts'
import {
  documentOf,
  type Ending,
  endingOf,
  type Failure,
  failureOf,
} from '../../operations/failure.ts'
import { type Inputs, inputOf } from '../../operations/input.ts'
import { answerCall, type CallAnswer } from '../../operations/offered/answer-call.ts'
import { type Call, type CallKind, callsTo } from '../../operations/offered/offered.ts'
import type { Answer, Fields, InputOf } from '../../operations/operation.ts'
import { ClientGone } from '../problem.ts'

/** A call of the management API, and for whom, as plain data for a thread. */
export interface Task {
  readonly operation: string
  readonly kind: CallKind
  readonly given: Inputs
  /** A format, or all of the answer as data. */
  readonly output: string | { readonly isWhole: true }
  /** The configuration of the console. */
  readonly config: string | undefined
  /** Who calls. */
  readonly actor: Context['actor']
  /** What they must not touch, by role. */
  readonly protectedRoles: readonly string[]
  /** The directory that the caller sent. */
  readonly draft?: DraftDirectory | undefined
}

/** How a call ended, and the text to send. */
export interface CallResult {
  readonly ending: Ending
  readonly body: string
  readonly failure?: Failure
  /** There is an answer, and it is too long to send. */
  readonly isTooLong?: true
}

/** How answers look in formats other than JSON, which is the document. */
interface Rendering {
  readonly formats: readonly string[]
  render(
    answer: Answer<unknown>,
    input: InputOf<Fields>,
    output: string,
    place: Pick<Context, 'cwd' | 'env'>,
  ): Promise<{ readonly out: string | Iterable<string> }>
}

/** The rendering of a call, by its operation. */
export type FindRendering = (call: Call) => Promise<Rendering>

/** What every call may touch. */
export type ConsoleSurroundings = Pick<Surroundings, 'cwd' | 'env' | 'shared'>

/** More than any answer about 10,000 rules; a longer one would fill the memory of the console. */
const maxCharacters = 64 * 1024 * 1024

/** Answers a call of the person that the task names. Throws `ClientGone` if the client of a list has gone. */
export async function perform(
  task: Task,
  surroundings: ConsoleSurroundings,
  renderingOf: FindRendering,
  gone?: AbortSignal,
): Promise<CallResult> {
  const call = callsTo(task.operation).find(({ kind }) => kind === task.kind)
  if (call === undefined) throw new Error(`unknown operation ${task.operation}`)
  const { output, given } = task
  const context = contextOf(task, surroundings)
  const stream = output === 'jsonl' ? (await call.operation.load()).stream : undefined
  const text = createText()
  try {
    if (stream !== undefined) {
      const input = inputOf(call.operation.input, given)
      await stream(input, context, (page) => {
        gone?.throwIfAborted()
        text.add((page as []).map(jsonLine).join(''))
      })
      return { ending: 'done', body: text.all() }
    }
    const answered = await answerCall(call, given, context)
    const ended = endOf(answered)
    for (const piece of await piecesOf(answered, { call, task, context, renderingOf })) {
      text.add(piece)
    }
    return { ...ended, body: text.all() }
  } catch (error) {
    if (error instanceof ClientGone) throw error
    if (error instanceof TooLong) return { ending: 'done', body: '', isTooLong: true }
    const failure = failureOf(error)
    return { ending: endingOf(failure), body: '', failure }
  }
}

function endOf({ answer, review, failure }: CallAnswer): Omit<CallResult, 'body'> {
  if (failure !== undefined) return { ending: endingOf(failure), failure }
  return { ending: (answer ?? review)?.outcome ?? 'done' }
}

interface Asked {
  readonly call: Call
  readonly task: Task
  readonly context: Context
  readonly renderingOf: FindRendering
}

async function piecesOf(
  answered: CallAnswer,
  { call, task, context, renderingOf }: Asked,
): Promise<Iterable<string>> {
  const { output } = task
  const { answer, review, failure } = answered
  if (typeof output !== 'string') return jsonPieces(answered)
  if (failure !== undefined) {
    const document = output === 'json' ? documentOf(failure) : undefined
    return document === undefined ? [] : jsonPieces(document)
  }
  // A review has no other format.
  if (answer === undefined) return jsonPieces(review?.document)
  const input = inputOf(call.operation.input, task.given)
  const { out } = await (await renderingOf(call)).render(answer, input, output, context)
  return typeof out === 'string' ? [out] : out
}

/**
 * For one person: they act, not the user of the operating system that the console runs as. A change
 * gets stores of its own, because it may make Redis wait for its replicas.
 */
function contextOf(
  { kind, config, actor, protectedRoles, draft }: Task,
  { cwd, env, shared }: ConsoleSurroundings,
): Context {
  return {
    ...{ cwd, env, configFile: config, actor, userName: actor.name, protectedRoles },
    now: Date.now,
    ...(draft !== undefined && { draft }),
    ...(kind !== 'change' && shared !== undefined && { shared }),
    readStdin: async () => '',
    err() {},
  }
}

class TooLong extends Error {}

/** Keeps a text, as long as that is not too much. */
function createText() {
  const pieces: string[] = []
  let characters = 0
  return {
    add(piece: string) {
      characters += piece.length
      if (characters > maxCharacters) throw new TooLong()
      pieces.push(piece)
    },
    all: () => pieces.join(''),
  }
}
