interface ReadinessCheck {
  readonly name: string
  /** A short description of the problem, or `undefined`. */
  readonly problem: () => string | undefined
}

/** The response of `/readyz`. */
export interface Readiness {
  readonly ready: boolean
  readonly revision: string | null
  readonly problems: readonly { readonly name: string; readonly problem: string }[]
  /** Only with `?verbose`. */
  readonly [detail: string]: unknown
}

interface ReadinessParts {
  readonly revision: () => string | undefined
  readonly checks: readonly ReadinessCheck[]
  /** More members of the response, for `/readyz?verbose`. */
  readonly details?: Readonly<Record<string, () => unknown>>
}

/** A gateway is ready if no check reports a problem. */
export function createReadiness({ revision, checks, details = {} }: ReadinessParts) {
  return (verbose: boolean): Readiness => {
    const problems = checks.flatMap(({ name, problem }) => {
      const text = problem()
      return text === undefined ? [] : [{ name, problem: text }]
    })
    const verdict = { ready: problems.length === 0, revision: revision() ?? null, problems }
    return verbose ? { ...verdict, ...inFull(details) } : verdict
  }
}

function inFull(details: Readonly<Record<string, () => unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(details).map(([name, read]) => [name, read()]))
}
