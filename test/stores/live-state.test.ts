import { describe, expect, test } from 'vitest'
import {
  createStatement,
  type Predecessor,
  parseStatement,
  type Signed,
} from '../../src/signing/statement.ts'
import { staleness } from '../../src/signing/trust.ts'
import { openPolicySigner } from '../../src/stores/keys/signing-key.ts'
import { readTrust } from '../../src/stores/keys/trusted-keys.ts'
import type { Head, Move } from '../../src/stores/policies/policy-store.ts'
import { readLiveState } from '../../src/stores/policies/proposals/live-state.ts'
import { reviewProposal } from '../../src/stores/policies/proposals/review-proposal.ts'
import type { SignedReport } from '../../src/stores/policies/replicas/replicas.ts'
import { folder } from '../cli/policy-runner.ts'
import { type TestSigner, testSigner } from '../support/policy-signers.ts'

const [ann, eve] = [testSigner('ann'), testSigner('eve')]
const trust = readTrust({ keys: [ann.line], signatures: 1 }, '.')
const now = Date.parse('2026-11-16T12:00:00Z')
const r1 = 'r-111111111111'
const r2 = 'r-222222222222'
const r3 = 'r-333333333333'

interface HeadOptions {
  readonly at?: number
  readonly by?: TestSigner
  readonly after?: Predecessor | null
}

/** A head of this revision, signed at this time. */
async function head(
  revision: string,
  { at = now - 60_000, by = ann, after = null }: HeadOptions = {},
): Promise<Head & { readonly signed: Signed }> {
  const document = { revision, checksum: '0'.repeat(64) }
  const about = { author: 'ann', message: 'why', purpose: 'live', after } as const
  const statement = createStatement({ ...about, document, now: new Date(at) }) ?? ''
  const cwd = await folder({ 'key.pem': by.pem })
  const { sign } = await openPolicySigner('key.pem', { cwd, env: {} })
  return { revision, sequence: at, signed: { statement, signatures: [await sign(statement)] } }
}

const asMove = (place: Head): Move => ({
  ...{ author: 'ann', message: 'why', at: '', kind: 'push' },
  ...place,
})

const storeWith = (parts: {
  readonly head?: Head
  readonly history?: readonly Head[]
  readonly replicas?: readonly Partial<SignedReport>[]
}) => ({
  head: async () => parts.head,
  history: async () => (parts.history ?? []).map(asMove),
  reported: async () => (parts.replicas ?? []) as readonly SignedReport[],
})

describe('what a publisher with policy.trust believes to be live', () => {
  test('is a signed head', async () => {
    const signed = await head(r1)
    const state = await readLiveState(storeWith({ head: signed, history: [signed] }), {
      trust,
      now,
    })

    expect(state).toEqual({
      head: signed,
      revision: r1,
      isSigned: true,
      after: { revision: r1, serial: now - 60_000 },
      isAfterKnown: true,
      find: expect.any(Function),
    })
  })

  test.each([
    ['without a signature', async () => ({ revision: r2, sequence: now }), /r-2+: not signed/],
    ['signed by a stranger', () => head(r2, { by: eve, at: 2 ** 52 }), /r-2+: 0 of 1 signatures/],
    [
      'that carries the signature of another revision',
      async () => ({ ...(await head(r1)), revision: r2 }),
      /r-2+: signed for r-1+/,
    ],
    [
      'that was signed before the last one',
      () => head(r2, { at: now - 120_000 }),
      /r-2+: signed before r-1+/,
    ],
  ])('is the last signed move when the head is one %s', async (_, forged, problem) => {
    const found = await forged()
    const history = [found, await head(r1), await head(r2, { at: now - 90_000 })]
    const state = await readLiveState(storeWith({ head: found, history }), { trust, now })

    expect(state).toMatchObject({
      head: found,
      revision: r1,
      isSigned: false,
      after: { revision: r1, serial: now - 60_000 },
      problem: expect.stringMatching(problem),
    })
  })

  test.each(['replicas', 'recorded'] as const)(
    'is what %s have signed once Redis has lost everything, and gateways accept its successor',
    async (where) => {
      const known = await head(r1)
      const forged = await head(r2, { by: eve, at: now })
      const parts = { replicas: [], recorded: [], [where]: [forged, known, {}] }
      const recorded = parts.recorded.map(asMove)
      const state = await readLiveState(storeWith(parts), { trust, now, recorded })
      const { after, isAfterKnown, find } = state

      const active = { revision: r1, serial: now - 60_000 }
      expect({ after, isAfterKnown }).toEqual({ after: active, isAfterKnown: true })
      expect(find(active)?.signers).toEqual(['ann'])
      expect(find({ revision: r2, serial: now })).toBeUndefined()
      const text = createStatement({
        ...{ purpose: 'live', author: 'ann', message: 'again', after, now: new Date(now) },
        document: { revision: r2, checksum: '0'.repeat(64) },
      })
      const next = parseStatement(text ?? '')
      expect(next && staleness(next, active, find)).toBeUndefined()
    },
  )

  test('is the head, and not a proposal that lost to it and was copied to the history', async () => {
    const root = { revision: r1, serial: now - 90_000 }
    const won = await head(r2, { at: now - 60_000, after: root })
    const lost = await head(r3, { at: now - 30_000, after: root })
    const history = [lost, won, await head(r1, { at: root.serial })]
    const state = await readLiveState(storeWith({ head: won, history }), { trust, now })

    expect(state).toMatchObject({ revision: r2, isSigned: true, isAfterKnown: true })
    expect(state.problem).toBeUndefined()
  })

  test('is nothing in an empty Redis', async () => {
    expect(await readLiveState(storeWith({}), { trust, now })).toEqual({
      head: undefined,
      revision: undefined,
      isSigned: false,
      after: null,
      isAfterKnown: false,
      find: expect.any(Function),
    })
  })
})

describe('without policy.trust', () => {
  test('the head counts as it claims, unless its serial is one of the far future', async () => {
    const claimed = await head(r1, { by: eve })
    const future = await head(r1, { at: 2 ** 52 })

    expect(
      await readLiveState(storeWith({ head: claimed }), { trust: undefined, now }),
    ).toMatchObject({
      isSigned: true,
      after: { revision: r1, serial: now - 60_000 },
    })
    expect(
      await readLiveState(storeWith({ head: future }), { trust: undefined, now }),
    ).toMatchObject({
      after: null,
    })
  })
})

test('a proposal may follow a trusted policy whose signer had a clock far ahead', async () => {
  const ahead = await head(r1, { at: now + 10 * 86_400_000 })
  const parse = ({ signed }: { readonly signed: Signed }) => parseStatement(signed.statement)
  const after = { revision: r1, serial: parse(ahead)?.serial ?? 0 }
  const document = { revision: r2, checksum: '0'.repeat(64) }
  const parts = { author: 'ann', message: 'why', purpose: 'live', after, document } as const
  const statement = createStatement({ ...parts, now: new Date(now) }) ?? ''
  const about = { kind: 'push', over: r1, evidence: { warnings: 0 } } as const
  const proposal = { revision: r2, statement, signatures: new Map(), about }
  const review = async (live: Head) =>
    reviewProposal(proposal, {
      live: await readLiveState(storeWith({ head: live }), { trust, now }),
      ...{ trust, now },
    })?.state

  expect(await review(ahead)).toBe('open')
  expect(await review(await head(r1, { at: now + 10 * 86_400_000, by: eve }))).toBeUndefined()
})
