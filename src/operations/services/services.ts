import { implement } from '../operation.ts'
import * as described from './descriptions.ts'

const changes = () => import('./change-services.ts')

export const serviceList = implement(described.serviceList, () => import('./list-services.ts'))
export const tokenList = implement(described.tokenList, () => import('./list-tokens.ts'))
export const serviceAdd = implement(described.serviceAdd, async () => ({
  run: (await changes()).serviceAdd,
}))
export const serviceRole = implement(described.serviceRole, async () => ({
  run: (await changes()).serviceRole,
}))
export const serviceRemove = implement(described.serviceRemove, async () => ({
  run: (await changes()).serviceRemove,
}))
export const tokenIssue = implement(described.tokenIssue, () => import('./issue-token.ts'))
