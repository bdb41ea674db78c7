import { isRecord, readJson } from '../kernel/json.ts'

/** What a line of the decision log says, as far as the decision can be asked again. */
export interface DecisionRecord {
  /** ISO 8601, in UTC, to the millisecond. */
  readonly at: string | undefined
  readonly requestId: string | undefined
  readonly revision: string | undefined
  /** Plain or hashed. */
  readonly userId: string | undefined
  readonly roleKey: string | undefined
  /** Recorded only where routes or the policy need it. */
  readonly host: string | undefined
  /** Casbin's domain. */
  readonly domain?: string | undefined
  readonly method: string
  /** Plain or hashed. */
  readonly path: string | undefined
  readonly result: 'allow' | 'deny'
  readonly step: string
  /** The line that decided then. */
  readonly rule: RecordedRule | undefined
}

interface RecordedRule {
  readonly file: string
  readonly line: number
}

/** A line that holds no decision: another log line, or one that is damaged in this way. */
export type NoRecord = 'other' | { readonly damage: string }

const text = '"[ !#-\\[\\]-~]*"'
const captured = '"([ !#-\\[\\]-~]*)"'
const time = '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z'
const number = '(?:0|[1-9]\\d{0,8})'

/**
 * A line as a gateway writes it, with its end: keys in this order, ASCII without escapes. JSON.parse
 * would find the same, at three times the CPU. Every other line is left to `readLine`.
 */
const ownLine = new RegExp(
  [
    `\\{"level":"info","decision_id":${text},"timestamp":"(${time})","request_id":${captured}`,
    `(?:,"trace_id":${text},"span_id":${text})?(?:,"revision":${captured})?`,
    `(?:,"subject":\\{(?:"user_id":${captured},)?"role_key":${captured}\\})?`,
    `(?:,"contract":${text})?(?:,"host":${captured})?(?:,"domain":${captured})?,"method":${captured}(?:,"path":${captured})?`,
    `,"result":"(allow|deny)","reason":${text},"step":${captured}`,
    `(?:,"rule":\\{"file":${captured},"line":(${number})\\})?`,
    `(?:,"shadow":\\{"revision":${text},"result":${text}(?:,"rule":\\{"file":${text},"line":${number}\\})?\\})?`,
    `(?:,"duration_us":${number}(?:\\.\\d+)?)?`,
    `,"labels":\\{"pod":${text},"version":${text}\\},"msg":"decision"\\}\\r?\\n`,
  ].join(''),
  'y',
)

/**
 * The record of the line that starts at `start` and whose line break is at `end`, if a gateway wrote it
 * and nothing has changed it since.
 */
export function readOwnLine(lines: string, start: number, end: number): DecisionRecord | undefined {
  ownLine.lastIndex = start
  const match = ownLine.exec(lines)
  if (match === null || ownLine.lastIndex !== end + 1) return undefined
  // By index: destructuring and spreading take as long as matching.
  const file = match[12]
  return {
    at: match[1],
    requestId: match[2],
    revision: match[3],
    userId: match[4],
    roleKey: match[5],
    host: match[6],
    domain: match[7],
    method: match[8] as string,
    path: match[9],
    result: match[10] as 'allow' | 'deny',
    step: match[11] as string,
    rule: file === undefined ? undefined : { file, line: Number(match[13]) },
  }
}

/** The record of any line: log shippers add, drop and reorder fields. */
export function readLine(line: string): DecisionRecord | NoRecord {
  const value = readJson(line)
  if (value === undefined) return { damage: 'not JSON' }
  if (!isRecord(value)) return { damage: 'not a JSON object' }
  if (value['msg'] !== 'decision' && typeof value['decision_id'] !== 'string') return 'other'
  const method = textOf(value['method'])
  const step = textOf(value['step'])
  const { result } = value
  if (result !== 'allow' && result !== 'deny') {
    return { damage: 'a decision whose result is neither allow nor deny' }
  }
  if (method === undefined || step === undefined) {
    return { damage: `a decision without ${method === undefined ? 'method' : 'step'}` }
  }
  const subject = isRecord(value['subject']) ? value['subject'] : {}
  return {
    at: timeOf(value['timestamp']),
    requestId: textOf(value['request_id']),
    revision: textOf(value['revision']),
    userId: textOf(subject['user_id']),
    roleKey: textOf(subject['role_key']),
    host: textOf(value['host']),
    domain: textOf(value['domain']),
    method,
    path: textOf(value['path']),
    result,
    step,
    rule: ruleOf(value['rule']),
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function ruleOf(value: unknown): RecordedRule | undefined {
  if (!isRecord(value)) return undefined
  const { file, line } = value
  if (typeof file !== 'string' || !Number.isSafeInteger(line)) return undefined
  return { file, line: line as number }
}

const ownTime = new RegExp(`^${time}$`)

/** In the form of our own, which sorts as text. */
function timeOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  if (ownTime.test(value)) return value
  const ms = Date.parse(value)
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString()
}
