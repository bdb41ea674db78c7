import { setTimeout as pause } from 'node:timers/promises'
import type { DocumentOf } from '../operation.ts'
import type { doctor } from './descriptions.ts'

/** What one check found, for one line. */
export type Finding = DocumentOf<typeof doctor>['checks'][number]

/** Takes what a check finds. `fix`: what to do about it; unset: the message says it. */
export interface Report {
  ok(message: string): void
  /** The gateway starts and serves, but not everything works as configured. */
  warning(message: string, fix: string): void
  problem(message: string, fix?: string): void
  /** A report about another subject, such as one part of what is checked. */
  about(check: string): Report
}

/** One thing to look at. It changes nothing. */
export interface Check {
  readonly name: string
  readonly run: (report: Report) => Promise<void> | void
}

function reportInto(findings: Finding[], check: string): Report {
  return {
    ok: (message) => void findings.push({ check, status: 'ok', message }),
    warning: (message, fix) => void findings.push({ check, status: 'warning', message, fix }),
    problem(message, fix) {
      findings.push({ check, status: 'problem', message, ...(fix !== undefined && { fix }) })
    },
    about: (other) => reportInto(findings, other),
  }
}

/** Runs all of them at once. One that takes longer than its time is a problem of its own. */
export async function runChecks(
  checks: readonly Check[],
  timeoutMs: number,
): Promise<readonly Finding[]> {
  const found = await Promise.all(checks.map((check) => inTime(check, timeoutMs)))
  return found.flat()
}

async function inTime({ name, run }: Check, timeoutMs: number): Promise<readonly Finding[]> {
  const found: Finding[] = []
  const late: Finding[] = []
  reportInto(late, name).problem(
    `timeout: this check did not finish within ${timeoutMs / 1000} s`,
    'find out why it is slow (name server, network, disk), or give it more time with --timeout',
  )
  const ended = new AbortController()
  try {
    return await Promise.race([
      Promise.resolve(run(reportInto(found, name))).then(() => found),
      pause(timeoutMs, late, { signal: ended.signal }).catch(() => found),
    ])
  } finally {
    ended.abort()
  }
}
