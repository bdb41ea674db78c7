import type { FoundAccount, LoginLogDetails, LoginModuleLog, LoginTools } from './contract.ts'
import type { FromThread, LogLine, ToThread } from './messages.ts'

/** Limits for one login, so that a module in a loop floods neither the log nor the database. */
const maxLines = 20
const maxLookups = 10
const maxText = 500
const maxDetails = 10

interface Call {
  readonly call: number
  readonly remoteAddress: string
  readonly signal: AbortSignal
}

/** What a module gets beside the request. Nothing of the gateway is in its thread: tools send messages. */
export function createWorkerTools(say: (message: FromThread) => void) {
  const waiting = new Map<number, PromiseWithResolvers<FoundAccount | undefined>>()
  let lookups = 0

  function of({ call, remoteAddress, signal }: Call): LoginTools {
    let found = 0
    return {
      signal,
      remoteAddress,
      log: createModuleLog((line) => say({ kind: 'log', call, ...line })),
      async findAccount(username) {
        if (typeof username !== 'string') throw new TypeError('findAccount: give a user name')
        if (++found > maxLookups) throw new Error(`findAccount: more than ${maxLookups} calls`)
        const lookup = ++lookups
        const answer = Promise.withResolvers<FoundAccount | undefined>()
        waiting.set(lookup, answer)
        say({ kind: 'find', call, lookup, username })
        return answer.promise
      },
    }
  }

  return {
    of,
    /** The gateway answers every lookup, so nothing waits forever. */
    found({ lookup, account, problem }: ToThread & { kind: 'account' }): void {
      const answer = waiting.get(lookup)
      waiting.delete(lookup)
      if (problem === undefined) answer?.resolve(account)
      else answer?.reject(new Error(`findAccount: ${problem}`))
    },
  }
}

function createModuleLog(write: (line: LogLine) => void): LoginModuleLog {
  let lines = 0
  const at = (level: LogLine['level']) => (message: string, details?: LoginLogDetails) => {
    if (++lines > maxLines) return
    write({ level, message: String(message).slice(0, maxText), details: bounded(details) })
  }
  return { info: at('info'), warn: at('warn'), error: at('error') }
}

/** Plain values only: an object could hold anything, a response with its headers for example. */
function bounded(details: unknown): LoginLogDetails {
  const plain: Record<string, string | number | boolean> = {}
  const entries: readonly [string, unknown][] = Object.entries(Object(details ?? {}))
  for (const [name, value] of entries.slice(0, maxDetails)) {
    if (typeof value === 'string') plain[name.slice(0, 64)] = value.slice(0, maxText)
    else if (typeof value === 'number' || typeof value === 'boolean') plain[name] = value
  }
  return plain
}
