import { implement } from '../operation.ts'
import * as described from './descriptions.ts'

export const tokenInspect = implement(described.tokenInspect, () => import('./inspect.ts'))
export const tokenRevoke = implement(described.tokenRevoke, () => import('./revoke.ts'))
