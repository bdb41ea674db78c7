import { implement } from '../operation.ts'
import * as described from './descriptions.ts'

export const loginList = implement(described.loginList, () => import('./list-attempts.ts'))
export const loginLocks = implement(described.loginLocks, () => import('./list-locks.ts'))
export const loginUnlock = implement(described.loginUnlock, () => import('./unlock.ts'))
export const loginTest = implement(described.loginTest, () => import('./test-login.ts'))
