import { implement } from '../operation.ts'
import * as described from './descriptions.ts'

export const keysGenerate = implement(described.keysGenerate, () => import('./generate.ts'))
export const keysList = implement(described.keysList, () => import('./list.ts'))
export const keysUse = implement(described.keysUse, () => import('./use.ts'))
