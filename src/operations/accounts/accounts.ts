import { implement, implementReview } from '../operation.ts'
import * as described from './descriptions.ts'

const changes = () => import('./change-accounts.ts')
const links = () => import('./change-links.ts')

export const userList = implement(described.userList, () => import('./list-users.ts'))
export const userShow = implement(described.userShow, () => import('./show-user.ts'))
export const dbMigrate = implement(described.dbMigrate, () => import('./migrate.ts'))
export const userAdd = implement(described.userAdd, async () => ({
  run: (await changes()).userAdd,
}))
export const userPasswd = implement(described.userPasswd, async () => ({
  run: (await changes()).userPasswd,
}))
export const userRole = implement(described.userRole, async () => ({
  run: (await changes()).userRole,
}))
export const userDisable = implement(described.userDisable, async () => ({
  run: (await changes()).userDisable,
}))
export const userEnable = implement(described.userEnable, async () => ({
  run: (await changes()).userEnable,
}))
export const userRename = implement(described.userRename, async () => ({
  run: (await changes()).userRename,
}))
export const userDelete = implementReview(described.userDelete, async () => ({
  review: (await changes()).userDelete,
}))
export const userLink = implement(described.userLink, async () => ({
  run: (await links()).userLink,
}))
export const userUnlink = implement(described.userUnlink, async () => ({
  run: (await links()).userUnlink,
}))
