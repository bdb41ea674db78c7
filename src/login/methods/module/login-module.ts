import { Fault } from '../../../kernel/errors.ts'
import type { Log } from '../../../log/log.ts'
import type { LoginResult } from './contract.ts'
import { maskOf } from './mask.ts'
import type { VerifyOrder } from './messages.ts'
import { readResult } from './module-result.ts'
import { type FindAccount, openModuleThreads } from './module-threads.ts'
import { describeThrown } from './thrown-error.ts'

interface ModuleOptions {
  /** Relative to the working directory, as every path of the configuration. */
  readonly file: string
  readonly timeoutMs: number
  readonly log: Log
  readonly findAccount: FindAccount
}

/** A loaded module. */
export type LoginModule = Awaited<ReturnType<typeof openLoginModule>>

/** Logins that wait for a module. Further ones get 503, as with too many password checks. */
const maxOpenCalls = 100

/** Loads a module. Throws `Invalid` when it cannot be loaded, or when what it declares is not valid. */
export async function openLoginModule(options: ModuleOptions) {
  const { log, timeoutMs } = options
  const threads = await openModuleThreads(options)
  const { name, countBy } = threads.declaration
  let openCalls = 0

  async function ask(order: VerifyOrder): Promise<LoginResult> {
    const deadline = Date.now() + timeoutMs
    const thread = await threads.ready(timeoutMs)
    if (thread === undefined)
      throw failed(`is not running: ${threads.state().problem ?? 'starting'}`)
    const answer = await thread.call(order, Math.max(1, deadline - Date.now()))
    if (answer.kind === 'returned') return read(answer.result)
    if (answer.kind === 'timed-out') throw failed(`did not answer within ${timeoutMs} ms`)

    // Why is in the line "login module restarting": it may quote what other clients sent.
    if (answer.kind === 'died') throw failed('lost its thread')
    const mask = maskOf([order.request], countBy)
    const reason = mask(`${answer.error.name}: ${answer.error.message}`)
    log.warn({ module: name, reason, stack: mask(answer.error.stack) }, 'login module threw')
    throw failed(`threw ${reason}`)
  }

  function read(result: unknown): LoginResult {
    try {
      return readResult(result)
    } catch (error) {
      throw failed(describeThrown(error).message)
    }
  }

  function failed(reason: string): Fault {
    return new Fault('login-module', { reason: `login module ${name} ${reason}` })
  }

  return {
    ...threads,
    /** Throws a Fault for anything but a valid result in time. */
    async verify(order: VerifyOrder) {
      if (openCalls >= maxOpenCalls) throw failed('has too many logins waiting')
      openCalls++
      try {
        return await ask(order)
      } finally {
        openCalls--
      }
    },
  }
}
