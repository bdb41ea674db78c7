import { implement } from '../operation.ts'
import * as described from './descriptions.ts'

export const doctor = implement(described.doctor, () => import('./examine.ts'))
