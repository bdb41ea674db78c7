/** Reports when the name of a target cannot be resolved, and when it can be again. */
export interface LookupReports {
  /** At the first failure, then once a minute; `failures` counts those since the last success. */
  readonly failed: (
    lookup: { upstream: string; host: string; failures: number },
    why: Error,
  ) => void
  readonly recovered: (lookup: { upstream: string; host: string; failures: number }) => void
}

/** The name lookups of one upstream, for connections and for address changes. */
export type NameLookups = ReturnType<typeof createNameLookups>

const reportEveryMs = 60_000

/** `now` gives milliseconds. */
export function createNameLookups(
  upstream: string,
  reports?: LookupReports,
  now = () => performance.now(),
) {
  const failing = new Map<string, { failures: number; reportAt: number }>()
  let all = 0

  return {
    /** A lookup has ended, with an error if it failed. */
    ended(host: string, error: Error | null) {
      const known = failing.get(host)
      if (error === null) {
        if (known === undefined) return
        failing.delete(host)
        reports?.recovered({ upstream, host, failures: known.failures })
        return
      }
      all++
      const { failures, reportAt } = known ?? { failures: 0, reportAt: 0 }
      const isDue = known === undefined || now() >= reportAt
      if (isDue) reports?.failed({ upstream, host, failures: failures + 1 }, error)
      failing.set(host, {
        failures: failures + 1,
        reportAt: isDue ? now() + reportEveryMs : reportAt,
      })
    },
    /** All failures so far. */
    failures: () => all,
  }
}
