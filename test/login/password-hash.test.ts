import { describe, expect, test } from 'vitest'
import { Fault } from '../../src/kernel/errors.ts'
import {
  createNoPasswords,
  createPasswordCredentials,
} from '../../src/login/methods/password/open-password.ts'
import {
  createPasswordHash,
  missingCosts,
  type PasswordHash,
} from '../../src/login/password-hash.ts'
import { unusablePassword } from '../../src/stores/accounts/unusable-password.ts'

const limits = { concurrency: 2, queue: 64 }
const passwords: PasswordHash = createPasswordHash(limits)
/** The seeded administrator of the product family: `123456`. */
const familyHash = '$2a$10$/Glr4g9Svr6O0kvjsRJCXu3f0W8/dsP3XZyVNi1019ratWpSPMyw.'

describe('a stored hash', () => {
  test('that the product family wrote is verified', async () => {
    expect(await passwords.verify('123456', familyHash)).toBe(true)
    expect(await passwords.verify('123457', familyHash)).toBe(false)
  })

  test.each(['$2a$', '$2b$', '$2y$'])('is good under the prefix %s', async (prefix) => {
    const hash = (await passwords.hash('right horse')).replace(/^\$2.\$/, prefix)

    expect(await passwords.verify('right horse', hash)).toBe(true)
    expect(await passwords.verify('wrong horse', hash)).toBe(false)
  })

  // T148: a hash that cannot be checked belongs to nobody, and does not hold anybody up.
  test.each([
    ['empty', ''],
    ['plain text', 'right horse'],
    ['cut short', familyHash.slice(0, -1)],
    ['of another kind', '$argon2id$v=19$m=65536,t=3,p=4$c2FsdA$aGFzaA'],
    ['of cost 31', familyHash.replace('$10$', '$31$')],
    ['of cost 3', familyHash.replace('$10$', '$03$')],
  ])('that is %s verifies no password', async (_, hash) => {
    expect(await passwords.verify('123456', hash)).toBe(false)
    expect(await passwords.verify('', hash)).toBe(false)
  })

  // T146: bcrypt reads 72 bytes, so a longer password would equal its own prefix.
  test('of 72 bytes does not verify the same bytes and more', async () => {
    const hash = await passwords.hash('a'.repeat(72))

    expect(await passwords.verify('a'.repeat(72), hash)).toBe(true)
    expect(await passwords.verify(`${'a'.repeat(72)}b`, hash)).toBe(false)
  })
})

describe('a check that fails', () => {
  const rounds = (costs: readonly number[]) => costs.reduce((sum, cost) => sum + 2 ** cost, 0)

  // T144: an installation with hashes of several costs, none of which may tell who exists.
  test.each([4, 8, 10, 11, 12])(
    'takes the rounds of the highest hash, here one of cost 12, on a hash of cost %d',
    (cost) => {
      const stored = familyHash.replace('$10$', `$${String(cost).padStart(2, '0')}$`)

      expect(rounds([cost, ...missingCosts(stored, 12)])).toBe(2 ** 12)
      expect(rounds(missingCosts(undefined, 12))).toBe(2 ** 12)
    },
  )

  test('is a no for a disabled account with the right password', async () => {
    expect(await passwords.verify('123456', familyHash, true)).toBe(true)
    expect(await passwords.verify('123456', familyHash, false)).toBe(false)
  })
})

describe('checking passwords', () => {
  test('shares its queue with new hashes', async () => {
    const narrow = createPasswordHash({ concurrency: 1, queue: 0 })
    const first = narrow.hash('right horse')

    await expect(narrow.verify('right horse', familyHash)).rejects.toThrow('too many logins')
    await expect(narrow.hash('other horse')).rejects.toThrow('too many logins')
    expect(await narrow.verify('right horse', await first)).toBe(true)
    await narrow.close()
  })

  test('turns away whom the queue cannot hold, at once and as a fault', async () => {
    const narrow = createPasswordHash({ concurrency: 1, queue: 1 })

    const outcomes = await Promise.allSettled(
      Array.from({ length: 5 }, () => narrow.verify('123456', familyHash)),
    )

    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'rejected',
      'rejected',
    ])
    const [, , third] = outcomes
    expect(third?.status === 'rejected' && third.reason).toBeInstanceOf(Fault)
    expect(await narrow.verify('123456', familyHash)).toBe(true)
  })

  test('happens off the event loop', async () => {
    let turns = 0
    const timer = setInterval(() => turns++, 1)

    await Promise.all(Array.from({ length: 4 }, () => passwords.verify('123456', familyHash)))
    clearInterval(timer)

    // On the event loop there would have been a turn between two checks at the most.
    expect(turns).toBeGreaterThan(8)
  })
})

describe('credentials by name and password', () => {
  const caller = {
    userId: '1',
    roleId: '1',
    roleKey: 'editor',
    roleName: '',
    username: 'ann',
    dataScope: '',
  }

  /** The real hash, and how often it was asked to work. */
  function counting() {
    const counts = { verify: 0, verifyDummy: 0 }
    return {
      counts,
      hash: {
        ...passwords,
        verify(password: string, hash: string, enabled?: boolean) {
          counts.verify++
          return passwords.verify(password, hash, enabled)
        },
        verifyDummy(password: string) {
          counts.verifyDummy++
          return passwords.verifyDummy(password)
        },
      },
    }
  }

  // T144: who exists must not be told by the time an answer takes.
  test.each([
    ['an unknown name', undefined, { verify: 0, verifyDummy: 1 }],
    [
      'a wrong password',
      { caller, passwordHash: familyHash, enabled: true },
      { verify: 1, verifyDummy: 0 },
    ],
    [
      'a disabled account',
      { caller, passwordHash: familyHash, enabled: false },
      { verify: 1, verifyDummy: 0 },
    ],
    [
      'an account that has a password elsewhere only',
      { caller, passwordHash: unusablePassword(), enabled: true },
      { verify: 1, verifyDummy: 0 },
    ],
  ])('hash once for %s, and say the same', async (_, account, expected) => {
    const { hash, counts } = counting()
    const verifyPassword = createPasswordCredentials(async () => account, hash)
    const password = account?.enabled === false ? '123456' : 'wrong'

    const outcome = await verifyPassword({ username: 'ann', password })

    expect(outcome).toBeUndefined()
    expect(counts).toEqual(expected)
  })

  test('hash once where no password logs in', async () => {
    const { hash, counts } = counting()

    expect(await createNoPasswords(hash)({ username: 'ann', password: '123456' })).toBeUndefined()
    expect(counts).toEqual({ verify: 0, verifyDummy: 1 })
  })

  test('give the account of the right password', async () => {
    const verifyPassword = createPasswordCredentials(
      async () => ({ caller, passwordHash: familyHash, enabled: true }),
      passwords,
    )

    expect(await verifyPassword({ username: 'ann', password: '123456' })).toBe(caller)
  })
})
