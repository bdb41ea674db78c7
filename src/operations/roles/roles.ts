import { functionsOf, implement } from '../operation.ts'
import * as described from './descriptions.ts'

const questions = functionsOf(() => import('./read-roles.ts'))
const changes = functionsOf(() => import('./change-roles.ts'))

export const roleList = implement(described.roleList, questions('roleList'))
export const roleShow = implement(described.roleShow, questions('roleShow'))
export const roleAdd = implement(described.roleAdd, changes('roleAdd'))
export const roleSet = implement(described.roleSet, changes('roleSet'))
export const roleRemove = implement(described.roleRemove, changes('roleRemove'))
