import { predecessorOf, type ReviewedProposal } from '../../operations/publish/proposal-state.ts'
import { summaryOf } from '../evidence/replay/replay-in-words.ts'
import { count, printable } from '../format.ts'

/** Who proposes what and why, what speaks for it, and who has signed, a line each. */
export function formatProposal(reviewed: ReviewedProposal): string {
  const { proposal, statement } = reviewed
  const lines = [
    `${proposal.revision} over ${predecessorOf(reviewed)}`,
    `  proposed    by ${authorInWords(reviewed)} at ${statement.at}`,
    `  why         ${statement.message}`,
    ...reportedLines(proposal.about).map((line) => `  reported    ${line} (not verified)`),
    `  signatures  ${signaturesOf(reviewed)}`,
  ]
  return lines.map((line) => `${printable(line)}\n`).join('')
}

/** Anyone can claim a name; one that signed the statement is who the configuration says. */
function authorInWords({ statement: { author }, signers }: ReviewedProposal): string {
  return signers.includes(author) ? author : `${author} (not verified)`
}

/** What the proposer recorded. No signature covers it, so an approver may want to repeat the checks. */
function reportedLines({
  kind,
  evidence,
}: ReviewedProposal['proposal']['about']): readonly string[] {
  const { tests, warnings, replay } = evidence
  return [
    ...(kind === 'rollback' ? ['rollback to a revision that was live before'] : []),
    ...(tests === undefined
      ? []
      : [
          `${count(tests.passed, 'test')} passed, coverage ${tests.coverage} %, ${count(warnings, 'warning')}`,
        ]),
    ...(replay === undefined ? [] : [`replay: ${summaryOf(replay)}`]),
  ]
}

/** `1/2 (ann)`. */
export function signaturesOf({ signers, needed, otherSignatures }: ReviewedProposal): string {
  const by = signers.length === 0 ? '' : ` (${signers.join(', ')})`
  if (needed > 0) {
    const others = otherSignatures === 0 ? '' : `, and ${otherSignatures} that do not count`
    return `${signers.length}/${needed}${by}${others}`
  }
  return otherSignatures === 0 ? '-' : `${otherSignatures} (not verified: policy.trust is not set)`
}
