import { implement } from '../operation.ts'
import * as described from './descriptions.ts'

export const serviceList = implement(described.serviceList, () => import('./list-services.ts'))
export const tokenList = implement(described.tokenList, () => import('./list-tokens.ts'))
