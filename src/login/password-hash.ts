import bcrypt from 'bcrypt'
import { Fault } from '../errors.ts'
import { createHashingThreads } from './hashing-threads.ts'
import { maxPasswordBytes } from './login-request.ts'

/** The product family's cost; existing hashes keep theirs. */
const cost = 10
/** One step more doubles the time: cost 31 would occupy a thread for days. */
const highestCost = 14

export interface PasswordHash {
  /**
   * Whether the password belongs to the hash, and the account may be used. A hash that cannot be
   * read belongs to no password. Every no takes the rounds of the dearest hash there is.
   */
  verify(password: string, hash: string, enabled?: boolean): Promise<boolean>
  /** As long as a no of `verify` takes: for names that do not exist. */
  waste(password: string): Promise<void>
  /** Makes these costs, as they stand in stored hashes, part of what a no takes. */
  expect(costs: Iterable<number>): void
  hash(password: string): Promise<string>
  /** Ends its threads; checks that are under way become faults. */
  close(): Promise<void>
}

/**
 * bcrypt in threads of its own, never on the event loop: `concurrency` of them at the most. `queue`
 * bounds who may wait, so that a flood of logins is turned away fast instead of being served late.
 */
export function createPasswordHash(limits: { concurrency: number; queue: number }): PasswordHash {
  const threads = createHashingThreads()
  const waiting: (() => void)[] = []
  let running = 0
  let dearest = cost

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

  /** One turn in the queue for the whole check, whatever it consists of. */
  async function check(password: string, hash: string | undefined, enabled: boolean) {
    await enter()
    try {
      const bytes = Buffer.from(password)
      const right = hash !== undefined && (await threads.compare({ password: bytes, hash }))
      if (right && enabled) return true
      for (const each of missingCosts(hash, dearest)) {
        await threads.compare({ password: bytes, hash: spareHash(each) })
      }
      return false
    } finally {
      leave()
    }
  }

  function expect(costs: Iterable<number>): void {
    for (const each of costs) if (each > dearest && each <= highestCost) dearest = each
  }

  return {
    expect,
    async verify(password, hash, enabled = true) {
      const readable = readableHash(hash)
      if (readable !== undefined) expect([costOf(readable)])
      const tooLong = Buffer.byteLength(password) > maxPasswordBytes
      return tooLong ? check('', undefined, false) : check(password, readable, enabled)
    },
    async waste(password) {
      await check(password, undefined, false)
    },
    hash: (password) => bcrypt.hash(Buffer.from(password), cost),
    close: threads.close,
  }
}

/**
 * Each step of cost doubles the rounds, so that a hash of cost c and spare ones of c, c+1 … up to
 * below the dearest make exactly the rounds of the dearest. Exported for its arithmetic.
 */
export function missingCosts(hash: string | undefined, dearest: number): number[] {
  if (hash === undefined) return [dearest]
  const done = costOf(hash)
  return Array.from({ length: Math.max(0, dearest - done) }, (_, step) => done + step)
}

/** A hash of this cost that belongs to no password anybody knows. */
function spareHash(of: number): string {
  return `$2b$${String(of).padStart(2, '0')}$${'.'.repeat(53)}`
}

function costOf(readable: string): number {
  return Number(readable.slice(4, 6))
}

/** PHP's `$2y$` is `$2b$` under another name, which the library does not know. */
function readableHash(hash: string): string | undefined {
  const match = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/.exec(hash)
  if (match === null || Number(match[1]) < 4 || Number(match[1]) > highestCost) return undefined
  return hash.replace(/^\$2y\$/, '$2b$')
}
