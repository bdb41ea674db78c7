import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { goodLogin, postLogin } from './log-in.ts'
import type { TestPostern } from './start-postern.ts'
import { tokenOf } from './tokens.ts'

/** What clients did while stores failed, and what they were promised. */
export interface StoreLoad {
  /** Calls with a token: how many, and every answer that was not the upstream's. */
  readonly calls: { total: number; readonly failed: string[] }
  /** Logins with a captcha: when each was sent and answered, and whether it gave a token. */
  readonly logins: {
    readonly from: number
    readonly at: number
    readonly ok: boolean
    readonly why: string
  }[]
  /** The user agents of login attempts that were answered 200 or with a refusal: each is one row. */
  readonly attempts: string[]
  /** Tokens of which a gateway said that they are revoked everywhere. */
  readonly revoked: string[]
  /** When a captcha and a login next succeeded that were sent at or after this moment. */
  loggedInAfter(moment: number): Promise<number>
  stop(): Promise<void>
}

/** Calls, logs in and logs out on these gateways until told to stop. */
export function startStoreLoad(
  gateways: readonly TestPostern[],
  user?: { readonly name: string; readonly password: string },
): StoreLoad {
  const calls = { total: 0, failed: [] as string[] }
  const logins: StoreLoad['logins'][number][] = []
  const attempts: string[] = []
  const revoked: string[] = []
  let running = true

  async function callers(gateway: TestPostern): Promise<void> {
    const token = tokenOf('editor')
    while (running) {
      calls.total++
      const answer = await gateway.call('GET /api/v1/public/a', { token }).catch(String)
      const text = typeof answer === 'string' ? answer : `${answer.status} ${answer.body}`
      if (typeof answer === 'string' || answer.status !== 200 || !text.includes('"ok":true')) {
        calls.failed.push(text)
      }
      await pause(5)
    }
  }

  async function people(gateway: TestPostern): Promise<void> {
    while (running) {
      const from = performance.now()
      const agent = `person/${randomUUID()}`
      const who = user && { username: user.name, password: user.password }
      const why = await logIn(gateway, agent, who).catch(String)
      if (why === '200' || why === '400') attempts.push(agent)
      logins.push({ from, at: performance.now(), ok: why === '200', why })
      await pause(100)
    }
  }

  async function leavers(gateway: TestPostern): Promise<void> {
    while (running) {
      const token = tokenOf('editor')
      const answer = await gateway.call('POST /api/v1/logout', { token }).catch(() => undefined)
      const { msg } = (answer?.json() ?? {}) as { msg?: string }
      if (answer?.status === 200 && msg === 'logged out') revoked.push(token)
      await pause(50)
    }
  }

  const lanes = gateways.flatMap((gateway) => [
    callers(gateway),
    callers(gateway),
    people(gateway),
    leavers(gateway),
  ])
  return {
    calls,
    logins,
    attempts,
    revoked,
    async loggedInAfter(moment) {
      for (;;) {
        const next = logins.find(({ from, ok }) => ok && from >= moment)
        if (next !== undefined) return next.at
        await pause(10)
      }
    },
    async stop() {
      running = false
      await Promise.all(lanes)
    },
  }
}

/** Reads a captcha and logs in. The code of the answer, or what was answered instead. */
async function logIn(
  gateway: TestPostern,
  agent: string,
  who: Readonly<Record<string, string>> = {},
): Promise<string> {
  const picture = await gateway.call('GET /api/v1/getCaptcha')
  if (picture.status !== 200) return `captcha ${picture.status}`
  const { id: uuid } = picture.json() as { id: string }
  const fields = { ...goodLogin(gateway), ...who, uuid, code: gateway.captchaTexts.at(-1) }
  const headers = ['Content-Type: application/json', `User-Agent: ${agent}`]
  const answer = await postLogin(gateway, fields, headers)
  const { code } = answer.json() as { code: number }
  return String(code)
}
