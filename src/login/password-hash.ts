import bcrypt from 'bcrypt'
import { createGate } from '../background/gate.ts'
import { Fault } from '../kernel/errors.ts'
import { createHashingThreads } from './hashing-threads.ts'
import { maxPasswordBytes } from './passwords/password-length.ts'

/** The product family's cost; existing hashes keep theirs. */
const cost = 10
/** Each step doubles the time: cost 31 would occupy a thread for days. */
const maxCost = 14

export type PasswordHash = ReturnType<typeof createPasswordHash>

/**
 * bcrypt in at most `concurrency` threads, never on the event loop. `queue` bounds the logins that wait,
 * so that a flood is refused quickly instead of served late.
 */
export function createPasswordHash(limits: { concurrency: number; queue: number }) {
  const threads = createHashingThreads()
  const inTurn = createGate({
    running: limits.concurrency,
    waiting: limits.queue,
    tooMany: () => new Fault('password-check', { reason: 'too many logins at once' }),
  })
  let highest = cost

  async function check(password: string, hash: string | undefined, enabled: boolean) {
    const bytes = Buffer.from(password)
    const right = hash !== undefined && (await threads.compare({ password: bytes, hash }))
    if (right && enabled) return true
    for (const each of missingCosts(hash, highest)) {
      await threads.compare({ password: bytes, hash: dummyHash(each) })
    }
    return false
  }

  /** Adds costs of stored hashes to what a failure takes. */
  function expect(costs: Iterable<number>): void {
    for (const each of costs) if (each > highest && each <= maxCost) highest = each
  }

  return {
    expect,
    /**
     * Whether the password matches and the account is enabled. An unreadable hash matches no password.
     * Every failure takes the rounds of the most expensive stored hash.
     */
    async verify(password: string, hash: string, enabled = true) {
      const readable = readableHash(hash)
      if (readable !== undefined) expect([costOf(readable)])
      const tooLong = Buffer.byteLength(password) > maxPasswordBytes
      // All comparisons of one check share one turn.
      return inTurn(() =>
        tooLong ? check('', undefined, false) : check(password, readable, enabled),
      )
    },
    /** Takes as long as a failure of `verify`: for names that do not exist. */
    async verifyDummy(password: string) {
      await inTurn(() => check(password, undefined, false))
    },
    hash: (password: string) => inTurn(() => bcrypt.hash(Buffer.from(password), cost)),
    /** Ends its threads; checks in progress become Faults. */
    close: threads.close,
  }
}

/**
 * Each step of cost doubles the rounds, so a hash of cost c and dummy hashes of c, c+1 … below the
 * highest take exactly the rounds of the highest. Exported for its test.
 */
export function missingCosts(hash: string | undefined, highest: number): number[] {
  if (hash === undefined) return [highest]
  const done = costOf(hash)
  return Array.from({ length: Math.max(0, highest - done) }, (_, step) => done + step)
}

/** A hash of this cost that no known password matches. */
function dummyHash(of: number): string {
  return `$2b$${String(of).padStart(2, '0')}$${'.'.repeat(53)}`
}

function costOf(readable: string): number {
  return Number(readable.slice(4, 6))
}

/** PHP's `$2y$` equals `$2b$`, but the library does not know that name. */
function readableHash(hash: string): string | undefined {
  const match = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/.exec(hash)
  if (match === null || Number(match[1]) < 4 || Number(match[1]) > maxCost) return undefined
  return hash.replace(/^\$2y\$/, '$2b$')
}
