import { functionsOf, implement, implementReview } from '../operation.ts'
import * as described from './descriptions.ts'

const questions = functionsOf(() => import('./read-accounts.ts'))
const changes = functionsOf(() => import('./change-accounts.ts'))
const links = functionsOf(() => import('./change-links.ts'))

export const userList = implement(described.userList, questions('userList'))
export const userShow = implement(described.userShow, questions('userShow'))
export const dbMigrate = implement(described.dbMigrate, () => import('./migrate.ts'))
export const userAdd = implement(described.userAdd, changes('userAdd'))
export const userPasswd = implement(described.userPasswd, changes('userPasswd'))
export const userRole = implement(described.userRole, changes('userRole'))
export const userDisable = implement(described.userDisable, changes('userDisable'))
export const userEnable = implement(described.userEnable, changes('userEnable'))
export const userRename = implement(described.userRename, changes('userRename'))
export const userDelete = implementReview(described.userDelete, async () => ({
  review: (await import('./change-accounts.ts')).userDelete,
}))
export const userLink = implement(described.userLink, links('userLink'))
export const userUnlink = implement(described.userUnlink, links('userUnlink'))
export const userTotp = implementReview(described.userTotp, () => import('./one-time-codes.ts'))
