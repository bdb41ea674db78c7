import { implement } from '../operation.ts'
import * as described from './descriptions.ts'

export const roleList = implement(described.roleList, () => import('./list-roles.ts'))
export const roleShow = implement(described.roleShow, () => import('./show-role.ts'))
