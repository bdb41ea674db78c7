import { functionsOf, implement } from '../operation.ts'
import * as described from './descriptions.ts'

const lists = functionsOf(() => import('./list-logins.ts'))

export const loginList = implement(described.loginList, lists('loginList'))
export const loginLocks = implement(described.loginLocks, lists('loginLocks'))
export const loginUnlock = implement(described.loginUnlock, () => import('./unlock.ts'))
export const loginTest = implement(described.loginTest, () => import('./test-login.ts'))
