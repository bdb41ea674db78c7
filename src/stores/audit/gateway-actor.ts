import { hostname } from 'node:os'
import type { Actor } from './audit.ts'

/** A gateway that changes something by itself, for the audit log. */
export function gatewayActor(): Actor {
  return { kind: 'gateway', name: 'postern', origin: hostname() }
}
