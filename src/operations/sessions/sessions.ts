import { implement } from '../operation.ts'
import * as described from './descriptions.ts'

export const sessionList = implement(described.sessionList, () => import('./list-sessions.ts'))
