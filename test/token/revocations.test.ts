import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Caller } from '../../src/token/caller.ts'
import { secretAlone } from '../../src/token/key-set.ts'
import { secretKey } from '../../src/token/keys.ts'
import {
  createRevocations,
  type Revocation,
  type Revocations,
} from '../../src/token/revocations.ts'
import { createTokens, revocationOf } from '../../src/token/tokens.ts'
import { everyUser } from '../../src/token/user-marks.ts'
import { testSecret, tokenOf } from '../support/tokens.ts'

const caller: Caller = {
  ...{ userId: '42', roleId: '7', roleKey: 'clerk' },
  ...{ roleName: 'Clerk', username: 'ann', dataScope: '3' },
}
const hour = 3_600_000
const noon = Date.parse('2030-01-01T12:00:00.000Z')

/** A clock that stands still until it is set, and everything that goes by it. */
async function setUp({ mostTokens = 100 } = {}) {
  const clock = { ms: noon }
  const revocations = createRevocations(() => clock.ms, { mostTokens })
  const keys = secretAlone(await secretKey(testSecret))
  const tokens = createTokens({
    ...{ keys: () => keys, revocations },
    ...{ lifetimeSeconds: 3600, maxLifetimeSeconds: undefined },
    ...{ maxTokenBytes: 4096, clockSkewSeconds: 60 },
    now: () => clock.ms / 1000,
  })
  const isTaken = (token: string) =>
    Promise.resolve(token)
      .then(tokens.verify)
      .then(
        () => true,
        () => false,
      )
  return { clock, revocations, tokens, isTaken }
}

function endUser(revocations: Revocations, before: number, userId = '42'): void {
  revocations.add({ kind: 'user', userId, before, until: before + hour })
}

describe('the end of all tokens of a user', () => {
  test('ends those of before and of that millisecond, and none of another user', async () => {
    const { clock, revocations, tokens, isTaken } = await setUp()
    const before = (await tokens.issue(caller)).token
    const other = (await tokens.issue({ ...caller, userId: '43' })).token
    clock.ms += 5
    const inThatMillisecond = (await tokens.issue(caller)).token

    endUser(revocations, clock.ms)

    expect(await isTaken(before)).toBe(false)
    expect(await isTaken(inThatMillisecond)).toBe(false)
    expect(await isTaken(other)).toBe(true)
  })

  test('leaves a login that follows, in the same second and even in the same millisecond', async () => {
    const { clock, revocations, tokens, isTaken } = await setUp()
    endUser(revocations, clock.ms)

    expect(await isTaken((await tokens.issue(caller)).token)).toBe(true)
  })

  test('leaves a login that follows on a gateway whose clock is behind', async () => {
    const { clock, revocations, tokens, isTaken } = await setUp()
    endUser(revocations, clock.ms + 1500)
    clock.ms += 10

    expect(await isTaken((await tokens.issue(caller)).token)).toBe(true)
  })

  test('ends a login whose account was read before it, and whose token was signed after', async () => {
    const { clock, revocations, tokens, isTaken } = await setUp()
    const readAt = clock.ms / 1000
    clock.ms += 50
    endUser(revocations, clock.ms - 10)
    clock.ms += 50

    const { token } = await tokens.issue(caller, readAt)

    expect(await isTaken(token)).toBe(false)
  })

  test('ends, of tokens that know seconds only, those of its own second too', async () => {
    const { clock, revocations, isTaken } = await setUp()
    const times = (second: number) => ({
      orig_iat: noon / 1000 + second,
      exp: noon / 1000 + 3600,
    })
    const [same, next, never] = [
      tokenOf('clerk', times(0)),
      tokenOf('clerk', times(1)),
      tokenOf('clerk', { ...times(0), orig_iat: undefined }),
    ]
    clock.ms += 1500

    endUser(revocations, noon + 500)

    expect(await isTaken(same)).toBe(false)
    expect(await isTaken(next)).toBe(true)
    expect(await isTaken(never)).toBe(false)
  })

  test('does not believe an id that claims another second than the token', async () => {
    const { revocations, clock, isTaken } = await setUp()
    const times = { orig_iat: noon / 1000, exp: noon / 1000 + 3600 }
    const late = (noon + 30_000).toString(16).padStart(12, '0')
    const jti = `${late.slice(0, 8)}-${late.slice(8)}-7000-8000-000000000000`
    clock.ms += 2000

    endUser(revocations, noon + 1000)

    expect(await isTaken(tokenOf('clerk', { ...times, jti }))).toBe(false)
  })

  test('is never taken back by an older one', async () => {
    const { revocations, tokens, isTaken } = await setUp()
    const { token } = await tokens.issue(caller)

    endUser(revocations, noon)
    endUser(revocations, noon - 1000)

    expect(await isTaken(token)).toBe(false)
  })
})

describe('the end of all logins of every user', () => {
  test('ends every token of a login, and none of a program or of another issuer', async () => {
    const { clock, revocations, tokens, isTaken } = await setUp()
    const before = (await tokens.issue(caller)).token
    const others = ['service', 'issuer'].map((kind) => ({
      ...{ id: kind, kind, userId: '43', issuedAt: noon },
    }))
    clock.ms += 5

    endUser(revocations, clock.ms, everyUser)

    expect(await isTaken(before)).toBe(false)
    for (const other of others) expect(revocations.check(other)).toBe('live')
  })

  test('leaves a login that follows, also where the clock is behind', async () => {
    const { clock, revocations, tokens, isTaken } = await setUp()
    endUser(revocations, clock.ms + 1500, everyUser)
    endUser(revocations, clock.ms + 1000)
    clock.ms += 10

    expect(await isTaken((await tokens.issue(caller)).token)).toBe(true)
  })

  test('is forgotten when every token that it revokes has expired', async () => {
    const { clock, revocations } = await setUp()
    endUser(revocations, noon, everyUser)

    clock.ms += hour + 61_000
    expect(revocations.entries()).toEqual([])
    const old = { id: 'old', kind: 'user', userId: '42', issuedAt: noon }
    expect(revocations.check(old)).toBe('live')
  })
})

describe('a token that is kept when the others of its user are revoked', () => {
  const [before, until] = [noon, noon + hour]
  const mark = { kind: 'user', userId: '42', before, until } as const
  const first = { id: 'first', userId: '42', issuedAt: noon - 2000 }
  const second = { id: 'second', userId: '42', issuedAt: noon - 1000 }
  const kept = { kind: 'kept', ...first, before, until } as const

  function checkAfter(...entries: readonly Revocation[]) {
    const revocations = createRevocations(() => noon)
    for (const entry of entries) revocations.add(entry)
    const check = (token: typeof first) => revocations.check({ ...token, kind: 'user' })
    return { first: check(first), second: check(second) }
  }

  test('stays good, and no other token does', () => {
    expect(checkAfter(kept, mark)).toEqual({ first: 'live', second: 'revoked' })
  })

  test('ends at its own revocation, before or after', () => {
    const own = { kind: 'token', ...first, until } as const
    expect(checkAfter(kept, mark, own).first).toBe('revoked')
    expect(checkAfter(own, kept, mark).first).toBe('revoked')
  })

  test('ends at a revocation of all tokens, later or earlier, in whichever order they arrive', () => {
    const later = { ...mark, before: before + 1 }
    const everyone = { ...later, userId: everyUser }
    expect(checkAfter(kept, mark, everyone).first).toBe('revoked')
    expect(checkAfter({ ...everyone, before }, kept, mark).first).toBe('revoked')
    const earlier = { ...mark, before: before - 1 }
    expect(checkAfter(kept, mark, later).first).toBe('revoked')
    expect(checkAfter(later, kept, mark).first).toBe('revoked')
    expect(checkAfter(earlier, kept, mark).first).toBe('revoked')
    expect(checkAfter(kept, mark, earlier).first).toBe('revoked')
    expect(checkAfter(kept, earlier, mark).first).toBe('revoked')
  })

  test('is kept again by a second password change', () => {
    const again = { before: before + 500 }
    expect(checkAfter(kept, mark, { ...kept, ...again }, { ...mark, ...again }).first).toBe('live')
  })

  test('stays valid between the two entries of a second password change', () => {
    expect(checkAfter(kept, mark, { ...kept, before: before + 500 }).first).toBe('live')
  })

  test('is not one of another user', () => {
    const other = { ...kept, userId: '43' }
    expect(checkAfter(other, mark).first).toBe('revoked')
  })

  test('is written right before its mark, so that both are read in that order', () => {
    const revocations = createRevocations(() => noon)
    for (const entry of [kept, mark]) revocations.add(entry)
    expect(revocations.entries()).toEqual([kept, mark])
    expect(revocations.has(kept) && revocations.has(mark)).toBe(true)
  })

  test('never comes back once it was revoked, whatever arrives', () => {
    const moment = fc.integer({ min: 0, max: 6 }).map((step) => noon + step)
    const tokens = ['a', 'b', 'c'].map((id, at) => ({ id, userId: '42', issuedAt: noon + at * 2 }))
    const token = fc.constantFrom(...tokens)
    const entry: fc.Arbitrary<Revocation> = fc.oneof(
      moment.map((at) => ({ ...mark, before: at })),
      fc
        .tuple(token, moment)
        .map(([one, at]) => ({ ...one, kind: 'kept' as const, before: at, until })),
      token.map((one) => ({ ...one, kind: 'token' as const, until })),
    )
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 12 }), (entries) => {
        const revocations = createRevocations(() => noon, { mostTokens: 2 })
        const revoked = new Set<string>()
        for (const one of entries) {
          revocations.add(one)
          for (const each of tokens) {
            const isRevoked = revocations.check({ ...each, kind: 'user' }) === 'revoked'
            expect(isRevoked || !revoked.has(each.id)).toBe(true)
            if (isRevoked) revoked.add(each.id)
          }
        }
        // Another gateway that reads what this one knows comes to the same.
        const copy = createRevocations(() => noon, { mostTokens: 9 })
        for (const one of revocations.entries()) copy.add(one)
        for (const each of tokens.map((one) => ({ ...one, kind: 'user' }))) {
          expect(copy.check(each)).toBe(revocations.check(each))
        }
      }),
      { numRuns: 5000 },
    )
  })
})

describe('the list of what ended', () => {
  test('forgets a token when it would have expired, and not before', async () => {
    const { clock, revocations, tokens } = await setUp()
    const token = await tokens.verify((await tokens.issue(caller)).token)
    revocations.add(revocationOf(token))

    clock.ms += hour - 1
    expect(revocations.entries()).toHaveLength(1)
    clock.ms += 61_000
    expect(revocations.entries()).toHaveLength(0)
  })

  test('takes in nothing that is over', async () => {
    const { clock, revocations } = await setUp()
    revocations.add({ kind: 'user', userId: '42', before: noon, until: clock.ms })

    expect(revocations.size()).toEqual({ tokens: 0, users: 0 })
  })

  test('stays bounded where tokens never expire, and brings none back', async () => {
    const { clock, revocations, tokens, isTaken } = await setUp({ mostTokens: 20 })
    const issued: string[] = []
    for (let each = 0; each < 100; each++) {
      clock.ms += 1
      const { token } = await tokens.issue({ ...caller, userId: String(each % 3) })
      revocations.add(revocationOf(await tokens.verify(token)))
      issued.push(token)
    }

    const { tokens: held, users } = revocations.size()
    expect(held).toBeLessThanOrEqual(20)
    expect(users).toBeLessThanOrEqual(3)
    for (const token of issued) expect(await isTaken(token)).toBe(false)
    expect(await isTaken((await tokens.issue({ ...caller, userId: '1' })).token)).toBe(true)
  })
})
