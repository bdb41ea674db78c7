import { randomBytes } from 'node:crypto'
import { readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { kill, pid } from 'node:process'
import { readJson } from '../../../kernel/json.ts'

/** Which process a replica is, so that its successor can tell that it has ended. */
export interface OwnProcess {
  readonly host: string
  readonly pid: number
  /** The PID namespace: only within one can a process be looked up by its PID. */
  readonly scope: string
  /** Unique to this process, even if its PID is used again. */
  readonly instance: string
}

const instance = randomBytes(6).toString('hex')

/** This process. */
export function ownProcess(): OwnProcess {
  return { host: hostname(), pid, scope: pidNamespace(), instance }
}

/** The process that a stored report names, if it does. */
export function processIn(report: string): OwnProcess | undefined {
  const value = readJson(report) as { readonly process?: Partial<OwnProcess> } | undefined
  const { host, pid: itsPid, scope, instance: its } = value?.process ?? {}
  const isWhole =
    typeof host === 'string' &&
    typeof itsPid === 'number' &&
    Number.isSafeInteger(itsPid) &&
    itsPid > 0 &&
    typeof scope === 'string' &&
    typeof its === 'string'
  return isWhole ? { host, pid: itsPid, scope, instance: its } : undefined
}

/**
 * Whether a process of this host has certainly ended: a container that was started again has its PID,
 * or no process has it in the same namespace. So a gateway that was killed and came back is not
 * listed as lost. Containers that share both host name and PID (host networking) cannot be
 * distinguished: one that still reports is listed again with its next report.
 */
export function isGone(other: OwnProcess | undefined, own: OwnProcess): boolean {
  if (other === undefined || other.host !== own.host || other.instance === own.instance) {
    return false
  }
  return other.pid === own.pid || (other.scope === own.scope && !isRunning(other.pid))
}

/** Whether that process may have ended, judged by the id alone, without the report. */
export function mayBeGone(id: string, own: OwnProcess): boolean {
  const itsPid = Number(/-(\d+)-[0-9a-f]+$/.exec(id)?.[1])
  if (!id.startsWith(`${own.host}-`) || !(itsPid > 0)) return false
  return itsPid === own.pid || !isRunning(itsPid)
}

function isRunning(processId: number): boolean {
  try {
    // Signal 0 only asks.
    kill(processId, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}
