import { hasStrings, readJson } from '../../../kernel/json.ts'
import { isRevision } from '../document/policy-document.ts'

/** A policy that people review before it is published. */
export interface Proposal {
  readonly revision: string
  /** What the signatures are about, as exact text. */
  readonly statement: string
  /** By the fingerprint of its key, as the signer said; only verification tells whose it is. */
  readonly signatures: ReadonlyMap<string, string>
  readonly about: ProposalAbout
}

/** What the proposer recorded beside the statement. No signature covers it. */
export interface ProposalAbout {
  readonly kind: 'push' | 'rollback'
  /** The revision that was live; `null` when nothing was published. */
  readonly over: string | null
  readonly evidence: ProposalEvidence
}

/** What the checks said when the policy was proposed. */
export interface ProposalEvidence {
  readonly warnings: number
  /** Absent for a revision that was published before. */
  readonly tests?: { readonly passed: number; readonly coverage: number }
  /** How recorded decisions would change. */
  readonly replay?: ReplayEvidence
}

interface ReplayEvidence {
  readonly decisions: number
  readonly asked: number
  readonly unchanged: number
  readonly wouldDeny: number
  readonly wouldAllow: number
  /** The times of the first and last decision. */
  readonly first?: string | undefined
  readonly last?: string | undefined
}

/** Bounds for what others may have written to Redis. */
const limits = {
  statement: 16 * 1024,
  about: 64 * 1024,
  signature: 4 * 1024,
  signatures: 32,
} as const

/** Bounds of the hash of a proposal in Redis. */
export const proposalBounds = { maxFields: 2 + 2 * limits.signatures, maxBytes: limits.about }

const signaturePrefix = 'signature:'

/** The field of a signature in the hash of a proposal. */
export function signatureField(fingerprint: string): string {
  return `${signaturePrefix}${fingerprint}`
}

/** The hash of a proposal as a value; `undefined` when it is missing, invalid or too large. */
export function readProposal(
  revision: string,
  fields: Readonly<Record<string, string>>,
): Proposal | undefined {
  const { statement = '', about: aboutText = '' } = fields
  if (!isRevision(revision) || statement === '' || statement.length > limits.statement) return
  const about = aboutText.length > limits.about ? undefined : readAbout(readJson(aboutText))
  if (about === undefined) return undefined
  const signatures = Object.entries(fields)
    .filter(([name, text]) => name.startsWith(signaturePrefix) && text.length <= limits.signature)
    .slice(0, limits.signatures)
    .map(([name, text]) => [name.slice(signaturePrefix.length), text] as const)
  return { revision, statement, about, signatures: new Map(signatures) }
}

function readAbout(value: unknown): ProposalAbout | undefined {
  if (!hasStrings(value, ['kind'])) return undefined
  const { kind, over, evidence } = value
  if (kind !== 'push' && kind !== 'rollback') return undefined
  if (over !== null && !isRevision(over)) return undefined
  return { kind, over, evidence: readEvidence(evidence) }
}

function readEvidence(value: unknown): ProposalEvidence {
  if (!hasStrings(value, [])) return { warnings: 0 }
  const { warnings, tests, replay } = value
  return {
    warnings: isCount(warnings) ? warnings : 0,
    ...(isTests(tests) && { tests: { passed: tests.passed, coverage: tests.coverage } }),
    ...(isReplay(replay) && { replay: replayOf(replay) }),
  }
}

function isTests(value: unknown): value is { passed: number; coverage: number } {
  return hasStrings(value, []) && isCount(value['passed']) && isCount(value['coverage'])
}

function isReplay(value: unknown): value is ReplayEvidence {
  if (!hasStrings(value, [])) return false
  const { first, last } = value
  return (
    ['decisions', 'asked', 'unchanged', 'wouldDeny', 'wouldAllow'].every((name) =>
      isCount(value[name]),
    ) && [first, last].every((time) => time === undefined || typeof time === 'string')
  )
}

/** Without what else the stored value may have. */
export function replayOf(replay: ReplayEvidence): ReplayEvidence {
  const { decisions, asked, unchanged, wouldDeny, wouldAllow, first, last } = replay
  return { decisions, asked, unchanged, wouldDeny, wouldAllow, first, last }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && Number.isFinite(value)
}
