import { describe, expect, test } from 'vitest'
import { Refusal } from '../../src/kernel/errors.ts'
import { createThrottle, type ThrottleLimits } from '../../src/login/throttle.ts'
import { createMemoryCounters } from '../../src/stores/limits/memory-counters.ts'

const day = 86_400
const defaults: ThrottleLimits = {
  perAddressPerMinute: 30,
  failuresPerAccount: 5,
  failuresPerPair: 5,
  failureWindowSeconds: 900,
  waitSeconds: 60,
  longestWaitSeconds: 900,
  knownAddressDays: 30,
  captchaPerAddressPerMinute: 60,
}

function throttle(changes: Partial<ThrottleLimits> = {}) {
  const clock = { seconds: 0 }
  const created = createThrottle({
    counters: createMemoryCounters({ now: () => clock.seconds * 1000 }),
    limits: { ...defaults, ...changes },
    digestKey: () => 'key',
  })

  /** How long this attempt has to wait; 0 when its password is looked at. */
  async function wait(attempt: Promise<unknown>): Promise<number> {
    try {
      await attempt
      return 0
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return error.detail.retryAfterSeconds ?? Number.NaN
    }
  }
  const guess = (name: string, address: string) => wait(created.password(name, address))
  async function logIn(name: string, address: string): Promise<number> {
    return wait(created.password(name, address).then((attempt) => attempt.succeeded()))
  }
  const address = (of: string) => created.address({ address: of, foreign: false })
  const captcha = (of: string) => created.captcha({ address: of, foreign: false })
  return { ...created, address, captcha, clock, wait, guess, logIn }
}

describe('guessing at an account', () => {
  test('has to wait after five failures, from however many addresses', async () => {
    const { guess } = throttle()
    for (let turn = 1; turn <= 5; turn++) expect(await guess('admin', `192.0.2.${turn}`)).toBe(0)

    expect(await guess('admin', '192.0.2.6')).toBe(60)
    expect(await guess('root', '192.0.2.6')).toBe(0)
  })

  test('has to wait longer each time, up to a quarter of an hour', async () => {
    const { guess, clock } = throttle()
    const waits: number[] = []
    for (let round = 0; round < 7; round++) {
      for (let turn = 0; turn < 5; turn++) expect(await guess('admin', `${round}.${turn}`)).toBe(0)
      waits.push(await guess('admin', 'another'))
      clock.seconds += waits.at(-1) ?? 0
    }

    expect(waits).toEqual([60, 120, 240, 480, 900, 900, 900])
  })

  test('gets at most about 500 tries a day, however patient', async () => {
    const { guess, clock } = throttle()
    let tried = 0
    let address = 0
    while (clock.seconds < day) {
      const wait = await guess('admin', `host ${address++}`)
      if (wait === 0) tried++
      else clock.seconds += wait
    }

    expect(tried).toBeLessThan(520)
  })

  test('under other spellings of the name is guessing at the same account', async () => {
    const { guess } = throttle()
    for (const name of ['admin', 'ADMIN', 'admin ', 'Admin', 'ａｄｍｉｎ']) await guess(name, 'a')

    expect(await guess('admin', 'b')).toBe(60)
  })
})

describe('the owner of an account', () => {
  test('is let in at a known address while strangers have to wait', async () => {
    const { guess, logIn } = throttle()
    await logIn('admin', '192.0.2.1')
    for (let turn = 0; turn < 20; turn++) await guess('admin', `198.51.100.${turn}`)

    expect(await logIn('admin', '192.0.2.1')).toBe(0)
    expect(await logIn('admin', '192.0.2.99')).toBe(60)
  })

  test('does not give strangers new tries by logging in', async () => {
    const { guess, logIn } = throttle()
    await logIn('admin', '192.0.2.1')
    for (let turn = 0; turn < 4; turn++) await guess('admin', `198.51.100.${turn}`)
    await logIn('admin', '192.0.2.1')
    await guess('admin', '198.51.100.50')

    expect(await guess('admin', '198.51.100.51')).toBe(60)
  })

  test('does not make strangers wait by mistyping at a known address', async () => {
    const { guess, logIn } = throttle()
    await logIn('admin', '192.0.2.1')
    for (let turn = 0; turn < 5; turn++) await guess('admin', '192.0.2.1')

    expect(await guess('admin', '192.0.2.1')).toBe(60)
    expect(await logIn('admin', '192.0.2.2')).toBe(0)
  })

  test('has all tries again after a right password', async () => {
    const { guess, logIn } = throttle()
    await logIn('admin', 'home')
    for (let round = 0; round < 3; round++) {
      for (let turn = 0; turn < 4; turn++) expect(await guess('admin', 'home')).toBe(0)
      expect(await logIn('admin', 'home')).toBe(0)
    }
  })

  test('who logs in from new addresses is never counted as a stranger', async () => {
    const { logIn } = throttle({ failuresPerAccount: 2 })

    for (let turn = 0; turn < 20; turn++) expect(await logIn('admin', `host ${turn}`)).toBe(0)
  })

  test('is known for as long as configured, and for the account alone', async () => {
    const { guess, logIn, clock } = throttle()
    await logIn('admin', 'home')
    clock.seconds += 30 * day - 1
    for (let turn = 0; turn < 6; turn++) await guess('admin', `host ${turn}`)
    for (let turn = 0; turn < 6; turn++) await guess('root', `host ${turn}`)

    expect(await guess('admin', 'home')).toBe(0)
    expect(await guess('root', 'home')).toBe(60)
    clock.seconds += 2
    expect(await guess('admin', 'home')).toBeGreaterThan(0)
  })

  test('is known nowhere where that is switched off', async () => {
    const { guess, logIn } = throttle({ knownAddressDays: 0 })
    await logIn('admin', 'home')
    for (let turn = 0; turn < 6; turn++) await guess('admin', `host ${turn}`)

    expect(await logIn('admin', 'home')).toBe(60)
  })

  // An account of one's own, named like another, would otherwise make every address known for it.
  test('of a name in other letters is a stranger', async () => {
    const { guess, logIn } = throttle()
    for (let turn = 0; turn < 6; turn++) await logIn('Admin', `198.51.100.${turn}`)
    for (let turn = 0; turn < 5; turn++) await guess('admin', `198.51.100.${turn}`)

    expect(await guess('admin', '198.51.100.5')).toBe(60)
  })
})

describe('an attempt whose password nobody looked at', () => {
  test('counts nowhere', async () => {
    const { password, guess } = throttle()
    for (let turn = 0; turn < 20; turn++) await (await password('admin', 'home')).notChecked()
    for (let turn = 0; turn < 5; turn++) expect(await guess('admin', 'home')).toBe(0)

    expect(await guess('admin', 'home')).toBe(60)
  })
})

describe('one address', () => {
  test('has so many attempts a minute, then waits that grow', async () => {
    const { address, wait, clock } = throttle({ perAddressPerMinute: 3 })
    const tries = async () => {
      const waits: number[] = []
      for (let turn = 0; turn < 4; turn++) waits.push(await wait(address('192.0.2.1')))
      return waits
    }

    expect(await tries()).toEqual([0, 0, 0, 60])
    clock.seconds += 60
    expect(await tries()).toEqual([0, 0, 0, 120])
    expect(await wait(address('192.0.2.2'))).toBe(0)
  })

  test('is 64 bits of IPv6, for logins, captchas and pairs', async () => {
    const { address, captcha, guess, logIn, wait } = throttle({
      perAddressPerMinute: 1,
      captchaPerAddressPerMinute: 1,
      failuresPerAccount: 1,
    })
    await address('2001:db8::1')
    await captcha('2001:db8::1')
    await logIn('admin', '2001:db8::1')
    for (let turn = 0; turn < 2; turn++) await guess('admin', 'elsewhere')

    expect(await wait(address('2001:db8::2'))).toBe(60)
    expect(await wait(captcha('2001:db8:0:0:ffff::'))).toBe(60)
    expect(await guess('admin', '2001:db8::3')).toBe(0)
    expect(await wait(address('2001:db8:0:1::1'))).toBe(0)
    expect(await guess('admin', '2001:db8:0:1::1')).toBe(60)
  })
})
