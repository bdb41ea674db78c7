import { functionsOf, implement } from '../operation.ts'
import * as described from './descriptions.ts'

const questions = functionsOf(() => import('./read-services.ts'))
const changes = functionsOf(() => import('./change-services.ts'))

export const serviceList = implement(described.serviceList, questions('serviceList'))
export const tokenList = implement(described.tokenList, questions('tokenList'))
export const serviceAdd = implement(described.serviceAdd, changes('serviceAdd'))
export const serviceRole = implement(described.serviceRole, changes('serviceRole'))
export const serviceRemove = implement(described.serviceRemove, changes('serviceRemove'))
export const tokenIssue = implement(described.tokenIssue, () => import('./issue-token.ts'))
