import { implement, implementReview } from '../operation.ts'
import * as described from './descriptions.ts'

export const sessionList = implement(described.sessionList, () => import('./list-sessions.ts'))
export const sessionEnd = implementReview(described.sessionEnd, () => import('./end-sessions.ts'))
