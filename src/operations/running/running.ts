import { functionsOf, implement } from '../operation.ts'
import * as described from './descriptions.ts'

const asked = functionsOf(() => import('./show-status.ts'))

export const version = implement(described.version, () => import('./show-version.ts'))
export const status = implement(described.status, asked('showStatus'))
export const upstreams = implement(described.upstreams, asked('showUpstreams'))
export const fleet = implement(described.fleet, () => import('./read-fleet.ts'))
