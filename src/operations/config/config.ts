import { implement } from '../operation.ts'
import * as described from './descriptions.ts'

export const configCheck = implement(described.configCheck, () => import('./check.ts'))
export const configPrint = implement(described.configPrint, () => import('./print.ts'))
