import { createHash, randomBytes } from 'node:crypto'
import { Refusal } from '../../../kernel/errors.ts'
import type { Sealing } from '../../../token/sealing.ts'
import { flowCookie, flowSeconds } from './flow-cookie.ts'

/** A login on its way to a provider and back. */
interface Flow {
  readonly provider: string
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  readonly redirectUri: string
  /** Where the browser goes after the login: a path of ours. */
  readonly to: string
  /** What this login confirms: the provider must ask its user again. Absent: it need not. */
  readonly confirms?: string | undefined
  /** Seconds since the epoch. */
  readonly startedAt: number
}

/** Replicas differ a little in their clocks. */
const skewSeconds = 60

export function beginFlow(
  { provider, redirectUri, to, confirms }: Omit<Flow, 'state' | 'nonce' | 'verifier' | 'startedAt'>,
  now: number,
): Flow {
  const secret = () => randomBytes(32).toString('base64url')
  return {
    ...{ provider, redirectUri, to, confirms, startedAt: Math.floor(now) },
    ...{ state: secret(), nonce: secret(), verifier: secret() },
  }
}

/** RFC 7636 4.2, method S256. */
export function challengeOf({ verifier }: Flow): string {
  return createHash('sha256').update(verifier).digest('base64url')
}

/**
 * The login that this cookie began. The cookie binds it to one browser: an attacker who sends a victim
 * to our callback with the attacker's own code has no such cookie there (login CSRF, RFC 6749 10.12).
 */
export async function readFlow(
  sealing: Pick<Sealing, 'open'>,
  cookie: string | undefined,
  expected: { readonly provider: string; readonly state: string; readonly now: number },
): Promise<Flow> {
  if (cookie === undefined) throw expired('this browser began no login with this state')
  // Made by `beginFlow`, because no one else can seal.
  const flow = (await sealing.open(cookie)) as unknown as Flow | undefined
  if (flow === undefined) throw expired('its cookie cannot be opened with the loaded keys')
  if (flow.state !== expected.state) throw expired('its state is that of another login')
  // Mix-up: the code of one provider must not go to another.
  if (flow.provider !== expected.provider) throw expired('it began at another provider')
  const age = expected.now - flow.startedAt
  if (age > flowSeconds || age < -skewSeconds) {
    throw expired(`it began more than ${flowSeconds} seconds ago`)
  }
  return flow
}

/** What the browser that began the login of this state wants with it. Whether it may is not checked. */
export async function purposeOf(
  sealing: Pick<Sealing, 'open'>,
  state: string,
  cookie: (name: string) => string | undefined,
): Promise<{ readonly to: string; readonly confirms: string | undefined }> {
  const flow = await sealing.open(cookie(flowCookie(state)) ?? '')
  const { to, confirms } = (flow ?? {}) as Partial<Flow>
  return { to: to ?? '/', confirms }
}

function expired(reason: string): Refusal {
  return new Refusal('login-expired', { reason })
}
