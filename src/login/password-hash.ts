import bcrypt from 'bcrypt'
import { Fault } from '../errors.ts'
import { maxPasswordBytes } from './login-request.ts'

/** The product family's cost; existing hashes keep theirs. */
const cost = 10
/** One step more doubles the time: cost 31 would occupy a thread for days. */
const highestCost = 14

export interface PasswordHash {
  /** Whether the password belongs to the hash. A hash that cannot be read belongs to none. */
  verify(password: string, hash: string): Promise<boolean>
  /** As long as `verify` takes, with no outcome: for names that do not exist. */
  waste(password: string): Promise<void>
  hash(password: string): Promise<string>
}

/**
 * bcrypt on the thread pool, never on the event loop. `concurrency` stays below the pool's four
 * threads so that name look-ups find one; `queue` bounds who may wait, so that a flood of logins
 * is turned away fast instead of being served late.
 */
export function createPasswordHash(limits: { concurrency: number; queue: number }): PasswordHash {
  const waiting: (() => void)[] = []
  let running = 0
  // Of a text nobody knows; made once, because making it costs as much as checking it.
  let spare: Promise<string> | undefined

  async function enter(): Promise<void> {
    if (running < limits.concurrency) {
      running++
      return
    }
    if (waiting.length >= limits.queue) {
      throw new Fault('password-check', { reason: 'too many logins at once' })
    }
    await new Promise<void>((resolve) => waiting.push(resolve))
  }

  function leave(): void {
    const next = waiting.shift()
    if (next === undefined) running--
    else next()
  }

  async function compare(password: string, hash: string): Promise<boolean> {
    await enter()
    try {
      return await bcrypt.compare(Buffer.from(password), hash)
    } finally {
      leave()
    }
  }

  async function waste(password: string): Promise<void> {
    spare ??= bcrypt.hash(globalThis.crypto.randomUUID(), cost)
    await compare(password, await spare)
  }

  return {
    waste,
    async verify(password, hash) {
      const readable = readableHash(hash)
      if (readable === undefined || Buffer.byteLength(password) > maxPasswordBytes) {
        await waste('')
        return false
      }
      return compare(password, readable)
    },
    hash: (password) => bcrypt.hash(Buffer.from(password), cost),
  }
}

/** PHP's `$2y$` is `$2b$` under another name, which the library does not know. */
function readableHash(hash: string): string | undefined {
  const match = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/.exec(hash)
  if (match === null || Number(match[1]) < 4 || Number(match[1]) > highestCost) return undefined
  return hash.replace(/^\$2y\$/, '$2b$')
}
