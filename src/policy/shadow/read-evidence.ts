import { isRecord } from '../../kernel/json.ts'
import { bounds, type Disagreement, type Evidence, type Ground } from './evidence.ts'

/**
 * Reads what a replica stored; `undefined` when it has another form. Others may write to Redis, so
 * every list and text is cut to what a replica would keep.
 */
export function readEvidence(value: unknown): Evidence | undefined {
  if (!isRecord(value)) return undefined
  const [evaluated, wouldDeny, wouldAllow, failed] = [
    countIn(value['evaluated']),
    countIn(value['wouldDeny']),
    countIn(value['wouldAllow']),
    countIn(value['failed']),
  ]
  if (evaluated === undefined || wouldDeny === undefined) return undefined
  if (wouldAllow === undefined || failed === undefined) return undefined
  const { against, disagreements } = value
  if (!Array.isArray(against) || !Array.isArray(disagreements)) return undefined
  return {
    ...{ evaluated, wouldDeny, wouldAllow, failed },
    against: against.slice(-bounds.against).map((each) => textIn(each, bounds.name)),
    disagreements: disagreements
      .slice(0, bounds.disagreements)
      .flatMap((each) => disagreementIn(each) ?? []),
  }
}

function disagreementIn(value: unknown): Disagreement | undefined {
  if (!isRecord(value)) return undefined
  const { would, path, domain, userId } = value
  const count = countIn(value['count'])
  const [first, last] = [timeIn(value['first']), timeIn(value['last'])]
  if ((would !== 'deny' && would !== 'allow') || count === undefined) return undefined
  if (first === undefined || last === undefined) return undefined
  return {
    ...{ would, count, first, last },
    role: textIn(value['role'], bounds.name),
    method: textIn(value['method'], bounds.name),
    live: groundIn(value['live']),
    shadow: groundIn(value['shadow']),
    requestId: textIn(value['requestId'], bounds.name),
    ...(path !== undefined && { path: textIn(path, bounds.text) }),
    ...(domain !== undefined && { domain: textIn(domain, bounds.text) }),
    ...(userId !== undefined && { userId: textIn(userId, bounds.name) }),
  }
}

function groundIn(value: unknown): Ground {
  if (!isRecord(value)) return { step: '' }
  const step = textIn(value['step'], bounds.name)
  const { rule } = value
  if (!isRecord(rule)) return { step }
  return {
    step,
    rule: {
      file: textIn(rule['file'], bounds.name),
      line: countIn(rule['line']) ?? 0,
      text: textIn(rule['text'], bounds.text),
    },
  }
}

function countIn(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : undefined
}

function textIn(value: unknown, most: number): string {
  return typeof value === 'string' ? value.slice(0, most) : ''
}

function timeIn(value: unknown): string | undefined {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
}
