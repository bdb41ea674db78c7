import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { answeredType } from '../../operations/offered/answer-call.ts'
import { checkInput } from '../../operations/offered/check-input.ts'
import { type Call, calls, hasFiles, isPost, pathOf } from '../../operations/offered/offered.ts'
import {
  outputParameter,
  type Parameter,
  parametersOf,
} from '../../operations/offered/parameters.ts'
import { createSharedStores } from '../../operations/shared-stores.ts'
import type { FindCallerOrigin } from '../access/caller-origin.ts'
import type { ConsoleGuard } from '../access/guard.ts'
import type { FindProtectedRoles } from '../access/roles.ts'
import { ClientGone, Problem } from '../problem.ts'
import { readDraft } from './draft.ts'
import { type ConsoleSurroundings, type FindRendering, perform } from './perform.ts'
import { Busy, QuestionThread } from './question-thread.ts'
import { sendResult } from './reply.ts'

/** What the operations of the management API are built on. */
interface OperationParts {
  /** Tells handlers who calls. */
  readonly guard: Pick<ConsoleGuard, 'sessionOf'>
  readonly originOf: FindCallerOrigin
  readonly protectedRoles: FindProtectedRoles
  /** Whether operations that change something exist (`console.write`). */
  readonly write: boolean
  /** Gets the details of a bug. */
  readonly onBug: (operation: string, details: string) => void
}

/** Adds the operations to a scope whose prefix is `/console/api/v1`. */
export type RegisterOperations = (scope: FastifyInstance, parts: OperationParts) => void

/** How the calls of the API are answered. */
export interface AnswerSource {
  readonly renderingOf: FindRendering
  /** A module for the thread that answers questions. */
  readonly threadFile: URL
}

interface ApiParts extends AnswerSource {
  /** Operations get the environment and the directory of the console. */
  readonly io: Pick<ConsoleSurroundings, 'env' | 'cwd'>
  /** The configuration that the console was started with. */
  readonly config: string | undefined
}

/** A call, ready to be answered. */
interface Offered {
  readonly call: Call
  readonly accepted: readonly Parameter[]
}

/** What a call accepts, with the format of its answer. */
export async function acceptedBy(
  call: Call,
  renderingOf: FindRendering,
): Promise<readonly Parameter[]> {
  // What a review shows is for programs.
  const formats = call.kind === 'review' ? ['json'] : (await renderingOf(call)).formats
  return [...parametersOf(call), ...(formats.length === 0 ? [] : [outputParameter(formats)])]
}

/** Finds out what each call accepts. */
export async function createOperations(parts: ApiParts): Promise<RegisterOperations> {
  const offered = await Promise.all(
    calls.map(async (call) => ({ call, accepted: await acceptedBy(call, parts.renderingOf) })),
  )
  return (scope, about) => {
    const { cwd, env } = parts.io
    const shared = createSharedStores()
    const thread = new QuestionThread(parts.threadFile, { cwd, env })
    scope.addHook('onClose', async () => {
      await Promise.all([shared.close(), thread.close()])
    })
    const { config, renderingOf } = parts
    const io = { cwd, env, shared }
    for (const each of offered) {
      if (each.call.operation.kind === 'question' || about.write)
        addRoute(scope, each, { ...about, config, io, thread, renderingOf })
    }
  }
}

interface RouteParts extends OperationParts {
  readonly config: string | undefined
  readonly io: ConsoleSurroundings
  readonly thread: QuestionThread
  readonly renderingOf: FindRendering
}

function addRoute(scope: FastifyInstance, { call, accepted }: Offered, parts: RouteParts): void {
  const { kind, operation, role } = call
  const { name, confirms } = operation
  const { config, guard, originOf, thread, io, onBug, renderingOf } = parts

  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { draft, members } = membersOf(request, call)
    const input = checkInput(members, accepted, !isPost(call))
    if (typeof input === 'string') throw new Problem(400, input)
    const { output: format = 'json', confirm, ...given } = input
    if (kind === 'change' && confirms !== undefined && confirm !== input[confirms]) {
      throw new Problem(400, `confirm must repeat ${confirms}: nothing was changed`)
    }
    const caller = guard.sessionOf(request)
    if (kind === 'change') allowWaiting(reply, Number(input['wait'] ?? 0))
    // As `postern --gateway` asks, which shows the answer itself.
    const isWhole = request.headers.accept === answeredType
    const output = isWhole ? ({ isWhole } as const) : String(format)
    const directory = draft && operation.draft && { [operation.draft.field]: draft.name }
    const task = {
      ...{ operation: name, kind, given: { ...given, ...directory }, output, config },
      actor: {
        kind: 'token' in caller ? 'service' : 'user',
        name: caller.username,
        origin: `${originOf(request).address} (console)`,
      },
      ...{ draft, protectedRoles: parts.protectedRoles(caller.roleKey) },
    } as const
    const gone = goneSignal(reply)
    const performed = operation.needsThread
      ? await thread.ask(task, gone)
      : await perform(task, io, renderingOf, gone)
    if (performed.failure?.kind === 'bug') onBug(name, performed.failure.details)
    return sendResult(reply, performed, { name, output })
  }

  /** Answers, or says when to ask again. */
  async function handle(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    try {
      return await answer(request, reply)
    } catch (error) {
      if (!(error instanceof Busy)) throw error
      void reply.header('Retry-After', '2')
      throw new Problem(429, 'too many questions are waiting: try again in a few seconds')
    }
  }

  scope.route({
    method: isPost(call) ? 'POST' : 'GET',
    url: `/${pathOf(call)}`,
    config: { access: { role, ...(kind === 'change' && { confirmed: true }) } },
    handler: handle,
  })
}

/** The parameters of a call, and the files of its draft. */
function membersOf(request: FastifyRequest, call: Call) {
  if (!isPost(call)) return { members: request.query }
  // Else a form of a link could hide what a person confirms.
  if (Object.keys(request.query as object).length > 0) {
    throw new Problem(400, 'parameters belong into the body')
  }
  const body: unknown = request.body
  if (!hasFiles(call) || typeof body !== 'object' || body === null) return { members: body }
  const { files, directory, ...members } = body as Record<string, unknown>
  const draft = readDraft(files, directory)
  if (typeof draft === 'string') throw new Problem(400, draft)
  return { draft, members }
}

/** Beyond the time that the caller asks it to wait, a change takes less than this. */
const changeMs = 120_000

/** Else the server closes the silent connection while the change waits for replicas. */
function allowWaiting({ raw }: FastifyReply, seconds: number): void {
  raw.setTimeout(seconds * 1000 + changeMs)
}

/** Aborts when the client has closed the connection before the answer. */
function goneSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort(new ClientGone())
  })
  return gone.signal
}
