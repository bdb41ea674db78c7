import type {
  policyApprove,
  policyPromote,
  policyPropose,
  policyPush,
  policyRollback,
} from '../../operations/publish/descriptions.ts'
import type { PlanExtras } from '../../operations/publish/publishing.ts'
import type { Remark } from '../../operations/publish/review.ts'
import { reviewFirst } from '../confirm.ts'
import { count } from '../format.ts'
import { conclusionOf } from '../policy/access.ts'
import type { PromptOf } from '../view.ts'
import { formatBehind } from './convergence-in-words.ts'
import { remarksInWords } from './remark-in-words.ts'

/** What the review found, which comes before the question. */
const shown = ({ shown: found }: { readonly shown?: unknown }) =>
  remarksInWords((found as { readonly remarks: readonly Remark[] }).remarks)

/** Before a policy is published. */
const asksToPublish = {
  shown,
  dryRun({ document, shown: found, outcome }) {
    const { revision, publishes, parent } = document
    const { known } = found as PlanExtras
    const would = publishes ? `publish ${revision} over ${parent ?? 'nothing'}` : 'publish nothing'
    const reporting = known && count(known.replicas.length - known.lost.length, 'replica')
    const then = reporting === undefined ? '' : ` and wait for ${reporting}`
    const end = outcome === 'no' ? ', then exit with 1' : ''
    return {
      out: `dry run: would ${would}${then}${end}\n`,
      err: known === undefined ? '' : formatBehind(known),
    }
  },
  words: ({ revision }) => confirmPublication(revision),
} satisfies PromptOf<typeof policyPromote>

export const policyPromotePrompt: PromptOf<typeof policyPromote> = asksToPublish
export const policyRollbackPrompt: PromptOf<typeof policyRollback> = asksToPublish

export const policyPushPrompt: PromptOf<typeof policyPush> = {
  shown,
  dryRun(reviewed) {
    const { document } = reviewed
    if (!('shadow' in document)) return asksToPublish.dryRun({ ...reviewed, document })
    const { shadow, replaces } = document
    const replaced = replaces === undefined ? '' : ` in place of ${replaces ?? 'an invalid one'}`
    return { out: `dry run: would make ${shadow} the shadow${replaced}\n`, err: '' }
  },
  words(plan) {
    if (!('shadow' in plan)) return asksToPublish.words(plan)
    return {
      question: `Evaluate ${plan.shadow} beside the live policy?`,
      ...{ unasked: reviewFirst('diff'), declined: 'not pushed' },
    }
  },
}

/** The words that ask whether to publish what was shown. */
export function confirmPublication(subject: string) {
  return {
    question: `Publish ${subject} to every replica?`,
    ...{ unasked: reviewFirst('diff'), declined: 'not published' },
  }
}

/** Nothing is asked: others decide about what is proposed. */
export const policyProposePrompt: PromptOf<typeof policyPropose> = {
  shown,
  words: () => confirmPublication('it'),
}

/**
 * Asks the person who is about to sign. Says again what changes: a proposer decides how many lines about
 * tests and replay follow the diff, and could push it off the screen.
 */
export const policyApprovePrompt: PromptOf<typeof policyApprove> = {
  shown,
  words: confirmSigning,
}

export function confirmSigning({
  revision,
  signer,
  diff,
}: {
  readonly revision: string
  readonly signer: string
  readonly diff?: Parameters<typeof conclusionOf>[0] | undefined
}) {
  const changed = diff === undefined ? 'not compared: all is new' : conclusionOf(diff)
  return {
    question: `${changed}. Sign ${revision} as ${signer}?`,
    ...{ unasked: reviewFirst('proposal'), declined: 'not signed' },
  }
}
