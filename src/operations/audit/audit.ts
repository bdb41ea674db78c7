import { implement } from '../operation.ts'
import * as described from './descriptions.ts'

export const auditList = implement(described.auditList, () => import('./list-changes.ts'))
