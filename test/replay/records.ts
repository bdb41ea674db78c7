import { randomUUID } from 'node:crypto'

/** A line of the decision log as `src/gateway/evidence/decision-record.ts` writes it, with changes: a change keeps the place of its key. */
export function recordOf(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    level: 'info',
    decision_id: randomUUID(),
    timestamp: '2026-11-15T07:49:53.558Z',
    request_id: 'q-1',
    trace_id: undefined,
    span_id: undefined,
    revision: 'r-d47a8140bd98f787fd65893cdbd39e7b',
    subject: { user_id: '7', role_key: 'clerk' },
    contract: undefined,
    host: undefined,
    method: 'GET',
    path: '/orders/7',
    result: 'allow',
    reason: 'rule-allows',
    step: 'rule',
    rule: { file: 'policy.csv', line: 12 },
    shadow: undefined,
    duration_us: 0.9,
    labels: { pod: 'postern-6c5f', version: '0.1.0' },
    msg: 'decision',
    ...changes,
  }
}

export function linesOf(...records: readonly (object | string)[]): string {
  return records
    .map((each) => `${typeof each === 'string' ? each : JSON.stringify(each)}\n`)
    .join('')
}
