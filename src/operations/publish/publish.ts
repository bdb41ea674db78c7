import { implement, implementReview } from '../operation.ts'
import * as described from './descriptions.ts'

export const policyStatus = implement(described.policyStatus, () => import('./status.ts'))
export const policyShadow = implement(described.policyShadow, () => import('./show-shadow.ts'))
export const policyShadowEnd = implement(described.policyShadowEnd, async () => ({
  run: (await import('./show-shadow.ts')).end,
}))
export const policyProposals = implement(described.policyProposals, () => import('./proposals.ts'))
export const policyProposalDrop = implement(described.policyProposalDrop, async () => ({
  run: (await import('./proposals.ts')).drop,
}))
export const policyPropose = implementReview(described.policyPropose, () => import('./propose.ts'))
export const policyApprove = implementReview(described.policyApprove, () => import('./approve.ts'))
export const policyPush = implementReview(described.policyPush, () => import('./push.ts'))
export const policyPromote = implementReview(described.policyPromote, () => import('./promote.ts'))
export const policyRollback = implementReview(
  described.policyRollback,
  () => import('./rollback.ts'),
)
export const policyPull = implement(described.policyPull, () => import('./pull.ts'))
