import { implement } from '../operation.ts'
import * as described from './descriptions.ts'

export const init = implement(described.init, () => import('./create-project.ts'))
