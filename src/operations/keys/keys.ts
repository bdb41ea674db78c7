import { functionsOf, implement } from '../operation.ts'
import * as described from './descriptions.ts'

const installed = functionsOf(() => import('./installed.ts'))

export const keysGenerate = implement(described.keysGenerate, () => import('./generate.ts'))
export const keysList = implement(described.keysList, installed('keysList'))
export const keysUse = implement(described.keysUse, installed('keysUse'))
