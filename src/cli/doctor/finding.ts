/** The result of one check, for one line. */
export interface Finding {
  readonly check: string
  /** `warning`: the gateway starts and serves, but not everything works as configured. */
  readonly status: 'ok' | 'warning' | 'problem'
  readonly message: string
  /** What to do about it. Unset: nothing, or the message says it. */
  readonly fix?: string
}

export function ok(check: string, message: string): Finding {
  return { check, status: 'ok', message }
}

export function warning(check: string, message: string, fix: string): Finding {
  return { check, status: 'warning', message, fix }
}

export function problem(check: string, message: string, fix: string): Finding {
  return { check, status: 'problem', message, fix }
}
