import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Command, Commands } from '../../cli/command.ts'
import { exitCodes } from '../../cli/exit-codes.ts'
import type { Io } from '../../cli/io.ts'
import { checkInput } from '../../cli/offered/check-input.ts'
import { type Operation, offeredOperations } from '../../cli/offered/operations.ts'
import { type Parameter, parametersOf } from '../../cli/offered/parameters.ts'
import { createSharedStores } from '../../operations/kept-stores.ts'
import type { FindCallerOrigin } from '../access/caller-origin.ts'
import type { ConsoleGuard } from '../access/guard.ts'
import type { FindProtectedRoles } from '../access/roles.ts'
import { ClientGone, Problem } from '../problem.ts'
import { type ConsoleIo, perform } from './call-command.ts'
import { readDraft } from './draft.ts'
import { Busy, QuestionThread } from './question-thread.ts'
import { sendPrinted } from './reply.ts'

/** What the operations of the management API are built on. */
interface OperationParts {
  /** Tells handlers who calls. */
  readonly guard: Pick<ConsoleGuard, 'sessionOf'>
  readonly originOf: FindCallerOrigin
  readonly protectedRoles: FindProtectedRoles
  /** Whether operations that change something exist (`console.write`). */
  readonly write: boolean
  /** Gets what a command printed about a bug. */
  readonly onBug: (command: string, details: string) => void
}

/** Adds the operations to a scope whose prefix is `/console/api/v1`. */
export type RegisterOperations = (scope: FastifyInstance, parts: OperationParts) => void

interface CommandParts {
  readonly commands: Commands
  /** Commands get the environment and the directory of the console. */
  readonly io: Pick<Io, 'env' | 'cwd'>
  /** The configuration that the console was started with. */
  readonly config: string | undefined
}

/** An operation with its command, ready to be called. */
interface Offered extends Omit<Operation, 'command'> {
  readonly command: Command
  readonly accepted: readonly Parameter[]
}

/** Finds the command of each operation. Throws when the table names one that does not exist. */
export async function createOperations(parts: CommandParts): Promise<RegisterOperations> {
  const offered: Offered[] = []
  for (const operation of offeredOperations) {
    const command = await parts.commands.find(operation.command)
    if (command === undefined) throw new Error(`unknown command ${operation.command}`)
    offered.push({ ...operation, command, accepted: parametersOf(operation, command.spec) })
  }
  return (scope, about) => {
    const { cwd, env } = parts.io
    const shared = createSharedStores()
    const thread = new QuestionThread(parts.commands.threadFile, { cwd, env })
    scope.addHook('onClose', async () => {
      await Promise.all([shared.close(), thread.close()])
    })
    const io = { cwd, env, shared }
    const { config } = parts
    for (const each of offered) {
      if (each.kind !== 'change' || about.write)
        addRoute(scope, each, { ...about, config, io, thread })
    }
  }
}

interface RouteParts extends OperationParts {
  readonly config: string | undefined
  readonly io: ConsoleIo
  readonly thread: QuestionThread
}

function addRoute(scope: FastifyInstance, offered: Offered, parts: RouteParts): void {
  const { command, role, kind, accepted, confirms } = offered
  const { spec } = command
  const { config, guard, originOf, thread, io, onBug } = parts

  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { draft, given } = givenIn(request, offered)
    const input = checkInput(given, accepted, kind === undefined)
    if (typeof input === 'string') throw new Problem(400, input)
    if (confirms !== undefined && input['confirm'] !== input[confirms]) {
      throw new Problem(400, `confirm must repeat ${confirms}: nothing was changed`)
    }
    const { username, roleKey } = guard.sessionOf(request)
    const { address } = originOf(request)
    if (kind === 'change') allowWaiting(reply, Number(input['wait'] ?? 0))
    const { output: format = 'json', confirm: _, ...values } = input
    const output = String(format)
    // `confirm` is the answer to the question that a command asks.
    const sure = kind === 'change' && { yes: true }
    const named = draft && offered.draft && { [offered.draft]: draft.name }
    const task = {
      ...{ command: spec.name, input: { ...values, ...named, ...sure }, output, config },
      ...{ username, address, draft, writes: kind === 'change' },
      protectedRoles: parts.protectedRoles(roleKey),
    }
    const printed = offered.needsThread
      ? await thread.ask(task, goneSignal(reply))
      : await perform(command, task, io)
    if (printed.code === exitCodes.bug) onBug(spec.name, printed.err)
    const { accept } = request.headers
    return sendPrinted(reply, printed, { output, name: spec.name, accept })
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
    method: kind === undefined ? 'GET' : 'POST',
    url: `/${spec.name.replaceAll(' ', '/')}`,
    config: { access: { role, ...(kind === 'change' && { confirmed: true }) } },
    handler: handle,
  })
}

/** The parameters of a call, and the files of its draft. */
function givenIn(
  request: FastifyRequest,
  { kind, draft: argument }: Pick<Operation, 'kind' | 'draft'>,
) {
  if (kind === undefined) return { given: request.query }
  // Else a form of a link could hide what a person confirms.
  if (Object.keys(request.query as object).length > 0) {
    throw new Problem(400, 'parameters belong into the body')
  }
  const body: unknown = request.body
  if (argument === undefined || typeof body !== 'object' || body === null) return { given: body }
  const { files, directory, ...given } = body as Record<string, unknown>
  const draft = readDraft(files, directory)
  if (typeof draft === 'string') throw new Problem(400, draft)
  return { draft, given }
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
