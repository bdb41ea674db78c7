import { implement } from '../operation.ts'
import * as described from './descriptions.ts'

export const version = implement(described.version, () => import('./show-version.ts'))
export const status = implement(described.status, () => import('./show-status.ts'))
export const upstreams = implement(described.upstreams, () => import('./show-upstreams.ts'))
export const fleet = implement(described.fleet, () => import('./show-fleet.ts'))
