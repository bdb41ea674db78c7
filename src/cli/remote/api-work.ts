import type { Context } from '../../operations/context.ts'
import { errorOf } from '../../operations/failure.ts'
import type { CallAnswer } from '../../operations/offered/answer-call.ts'
import type { Input } from '../../operations/offered/check-input.ts'
import { type Call, callsTo } from '../../operations/offered/offered.ts'
import type { Answer, AnyWork } from '../../operations/operation.ts'
import type { Command } from '../command.ts'
import type { Io } from '../io.ts'
import { contextOf } from '../operation-context.ts'
import { askConsole, notAConsole, unreadable } from './api-session.ts'
import type { Args, CallPlan } from './choose-call.ts'
import type { Gateway } from './gateway.ts'
import { type Draft, requestOf } from './request.ts'

/** Shows what a console answers as the command shows what it answers here. Returns the exit code. */
export async function showAnswer(
  { spec, operation }: Command,
  { given, output }: Args,
  { gateway, io }: Pick<Link, 'gateway' | 'io'>,
  work: AnyWork,
): Promise<number> {
  if (operation === undefined) throw new Error(`${spec.name} is not an operation`)
  const source = { load: async () => work, unreadable: unreadable(gateway) }
  const context = contextOf(undefined, io)
  const { code, err } = await operation.answer(given, output, { context, terminal: io, source })
  io.err(err)
  return code
}

interface Link {
  readonly gateway: Gateway
  readonly io: Io
  readonly draft?: Draft | undefined
  /** Whether the change runs without a question; its answer then says what it did. */
  readonly isSure: boolean
}

/** The work of an operation that a console does: a command shows its answers as it shows those of this machine. */
export function apiWork({ call, input }: CallPlan, { gateway, io, draft, isSure }: Link): AnyWork {
  const ask = (each: Call, values: Input) => {
    return askConsole(gateway, requestOf(each, values, draft), io)
  }
  const answerIn = ({ told, answer, failure }: CallAnswer, context: Context): Answer<unknown> => {
    context.err(told)
    if (failure !== undefined) throw errorOf(failure)
    if (answer === undefined) throw notAConsole(gateway)
    return answer
  }
  const run: AnyWork['run'] = async (_, context) => answerIn(await ask(call, input), context)
  const stream: NonNullable<AnyWork['stream']> = async (_, context, onPage) => {
    const { document } = await run({}, context)
    onPage(document)
  }
  if (call.operation.plan === undefined) return { run, stream }
  const { confirm: _, ...asked } = input
  const look = isSure
    ? undefined
    : callsTo(call.operation.name).find(({ kind }) => kind === 'review')
  return {
    ...{ run, stream },
    async review(_, context) {
      const { told, ...found } =
        look === undefined ? await ask(call, input) : await ask(look, asked)
      const { review, failure } = found
      // A change that is made at once tells what it did, which comes after what it would do.
      if (look !== undefined || failure !== undefined) context.err(told)
      if (review === undefined)
        throw failure === undefined ? notAConsole(gateway) : errorOf(failure)
      const commit = async () => {
        if (look === undefined) return answerIn({ ...found, told }, context)
        return answerIn(await ask(call, { ...input, ...overSeen(call, review.document) }), context)
      }
      const refusal = failure && errorOf(failure)
      const isDone = look === undefined && { isSure: true }
      return { ...review, ...isDone, ...(refusal && { refusal }), commit }
    },
  }
}

/** What was live when the person read the review must be live still. */
function overSeen({ operation }: Call, plan: unknown): Input {
  const { parent } = (plan ?? {}) as { readonly parent?: unknown }
  return 'over' in operation.input && typeof parent === 'string' ? { over: parent } : {}
}
