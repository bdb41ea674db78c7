/** One thing that must hold before traffic should come here. */
interface ReadinessCheck {
  readonly name: string
  /** `undefined` when all is well, else a few words on what is not. */
  readonly problem: () => string | undefined
}

/** What `/readyz` says. */
export interface Readiness {
  readonly ready: boolean
  readonly revision: string | null
  readonly problems: readonly { readonly name: string; readonly problem: string }[]
  /** With `?verbose`: more, by name. */
  readonly [detail: string]: unknown
}

interface ReadinessParts {
  readonly revision: () => string | undefined
  readonly checks: readonly ReadinessCheck[]
  /** What `/readyz?verbose` shows besides, by name. */
  readonly details?: Readonly<Record<string, () => unknown>>
}

/** Asks every check. Ready is a gateway of which none complains. */
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
