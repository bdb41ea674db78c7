import { describe, expect, test } from 'vitest'
import { createStatement, parseStatement, type Signed } from '../../src/signing/statement.ts'
import { staleness } from '../../src/signing/trust.ts'
import { openPolicySigner } from '../../src/stores/keys/signing-key.ts'
import { readTrust } from '../../src/stores/keys/trusted-keys.ts'
import type { Head, Move, ReplicaReport } from '../../src/stores/policies/policy-store.ts'
import { readLiveState } from '../../src/stores/policies/proposals/live-state.ts'
import { reviewProposal } from '../../src/stores/policies/proposals/review-proposal.ts'
import { folder } from '../cli/policy-runner.ts'
import { type TestSigner, testSigner } from '../support/policy-signers.ts'

const [ann, eve] = [testSigner('ann'), testSigner('eve')]
const trust = readTrust({ keys: [ann.line], signatures: 1 }, '.')
const now = Date.parse('2026-11-16T12:00:00Z')
const r1 = 'r-111111111111'
const r2 = 'r-222222222222'

/** A head of this revision, signed at this time. */
async function head(
  revision: string,
  { at = now - 60_000, by = ann }: { at?: number; by?: TestSigner } = {},
): Promise<Head & { readonly signed: Signed }> {
  const document = { revision, checksum: '0'.repeat(64) }
  const about = { author: 'ann', message: 'why', purpose: 'live', after: null } as const
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
  readonly replicas?: readonly Partial<ReplicaReport>[]
}) => ({
  head: async () => parts.head,
  history: async () => (parts.history ?? []).map(asMove),
  replicas: async () => (parts.replicas ?? []) as readonly ReplicaReport[],
})

describe('what a publisher with policy.trust believes to be live', () => {
  test('is a signed head', async () => {
    const signed = await head(r1)
    const state = await readLiveState(storeWith({ head: signed, history: [signed] }), trust, now)

    expect(state).toEqual({
      head: signed,
      revision: r1,
      isSigned: true,
      after: { revision: r1, serial: now - 60_000 },
      isAfterKnown: true,
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
    const state = await readLiveState(storeWith({ head: found, history }), trust, now)

    expect(state).toMatchObject({
      head: found,
      revision: r1,
      isSigned: false,
      after: { revision: r1, serial: now - 60_000 },
      problem: expect.stringMatching(problem),
    })
  })

  test('is what gateways report once Redis has lost everything, and they accept its successor', async () => {
    const replicas = [{ revision: r2, sequence: 5 }, { revision: r1, sequence: 7 }, {}]
    const { after, isAfterKnown } = await readLiveState(storeWith({ replicas }), trust, now)

    expect({ after, isAfterKnown }).toEqual({
      after: { revision: r1, serial: now - 1 },
      isAfterKnown: false,
    })
    const text = createStatement({
      ...{ purpose: 'live', author: 'ann', message: 'again', after, now: new Date(now) },
      document: { revision: r2, checksum: '0'.repeat(64) },
    })
    const next = parseStatement(text ?? '')
    expect(next && staleness(next, { revision: r1, serial: now - 60_000 })).toBeUndefined()
  })

  test('is nothing in an empty Redis', async () => {
    expect(await readLiveState(storeWith({}), trust, now)).toEqual({
      head: undefined,
      revision: undefined,
      isSigned: false,
      after: null,
      isAfterKnown: false,
    })
  })
})

describe('without policy.trust', () => {
  test('the head counts as it claims, unless its serial is one of the far future', async () => {
    const claimed = await head(r1, { by: eve })
    const future = await head(r1, { at: 2 ** 52 })

    expect(await readLiveState(storeWith({ head: claimed }), undefined, now)).toMatchObject({
      isSigned: true,
      after: { revision: r1, serial: now - 60_000 },
    })
    expect(await readLiveState(storeWith({ head: future }), undefined, now)).toMatchObject({
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
      live: await readLiveState(storeWith({ head: live }), trust, now),
      ...{ trust, now },
    })?.state

  expect(await review(ahead)).toBe('open')
  expect(await review(await head(r1, { at: now + 10 * 86_400_000, by: eve }))).toBeUndefined()
})
