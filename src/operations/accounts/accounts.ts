import { implement, implementReview } from '../operation.ts'
import * as described from './descriptions.ts'

export const userList = implement(described.userList, () => import('./list-users.ts'))
export const userShow = implement(described.userShow, () => import('./show-user.ts'))
export const userDisable = implement(described.userDisable, () => import('./disable-user.ts'))
export const userRename = implement(described.userRename, () => import('./rename-user.ts'))
export const userDelete = implementReview(described.userDelete, () => import('./delete-user.ts'))
