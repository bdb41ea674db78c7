/** A decision as the console shows it: nothing that the decision log would not have. */
export interface WatchedDecision {
  readonly at: string
  readonly gateway: string
  readonly method: string
  readonly result: 'allow' | 'deny'
  readonly reason: string
  readonly step: string
  /** Absent where `logger.decisions.path` hides it. */
  readonly path?: string
  readonly host?: string
  readonly domain?: string
  readonly role?: string
  readonly user?: string
  readonly rule?: string
  readonly revision?: string
  readonly request?: string
}

/** What one gateway saw since the last batch. */
export interface DecisionBatch {
  readonly decisions: readonly WatchedDecision[]
  /** How many more it saw. */
  readonly leftOut: number
}

/** For each result and batch; with two batches a second, 50 decisions a second. */
export const decisionsPerBatch = { allow: 12, deny: 13 } as const
export const batchMs = 500
/** Clients choose paths. */
const maxText = 300

const optional = [
  ...(['path', 'host', 'domain', 'role', 'user', 'rule', 'revision', 'request'] as const),
]

/** A batch that another process sent, cut to its limits; `undefined` for anything else. */
export function readBatch(value: unknown): DecisionBatch | undefined {
  const { decisions, leftOut } = Object(value)
  if (!Array.isArray(decisions)) return undefined
  const most = decisionsPerBatch.allow + decisionsPerBatch.deny
  const said = Number.isSafeInteger(leftOut) && leftOut > 0 ? leftOut : 0
  return {
    decisions: decisions.slice(0, most).map(readDecision),
    leftOut: said + Math.max(0, decisions.length - most),
  }
}

/** Cuts every text; a field that is not text is left out. */
export function readDecision(value: unknown): WatchedDecision {
  const { at, gateway, method, result, reason, step, ...others } = Object(value)
  const given = optional.flatMap((name) => {
    const each: unknown = others[name]
    return typeof each === 'string' ? [[name, cut(each)] as const] : []
  })
  return {
    at: cut(at),
    gateway: cut(gateway),
    method: cut(method),
    result: result === 'allow' ? 'allow' : 'deny',
    reason: cut(reason),
    step: cut(step),
    ...Object.fromEntries(given),
  }
}

function cut(value: unknown): string {
  const text = typeof value === 'string' ? value : ''
  return text.length > maxText ? `${text.slice(0, maxText)}…`.toWellFormed() : text
}
