import { implement } from '../operation.ts'
import * as described from './descriptions.ts'

export const userList = implement(described.userList, () => import('./list-users.ts'))
export const userShow = implement(described.userShow, () => import('./show-user.ts'))
