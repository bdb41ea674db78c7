import { implement } from '../operation.ts'
import * as described from './descriptions.ts'

const changes = () => import('./change-roles.ts')

export const roleList = implement(described.roleList, () => import('./list-roles.ts'))
export const roleShow = implement(described.roleShow, () => import('./show-role.ts'))
export const roleAdd = implement(described.roleAdd, async () => ({
  run: (await changes()).roleAdd,
}))
export const roleSet = implement(described.roleSet, async () => ({
  run: (await changes()).roleSet,
}))
export const roleRemove = implement(described.roleRemove, async () => ({
  run: (await changes()).roleRemove,
}))
