import type { Problem } from '../../kernel/errors.ts'
import type { Place } from './tree.ts'

/** Collects problems by setting, and knows the place of each setting. */
export type Report = ReturnType<typeof createReport>

/** An empty report. `origin` is the place of settings that were not written anywhere. */
export function createReport(origin: Place) {
  const places = new Map<string, Place>()
  const broken = new Set<string>()
  const problems: Problem[] = []

  /** The place of the setting, or of the nearest section around it. */
  function placeOf(path: string): Place {
    const known = upwards(path).find((ancestor) => places.has(ancestor))
    return (known === undefined ? undefined : places.get(known)) ?? origin
  }

  /** Adds the problem `${path}${rest}` at the place of a setting, or of the nearest section around it. */
  function problem(path: string, rest: string) {
    broken.add(path)
    problems.push({ ...placeOf(path), message: `${path}${rest}` })
  }

  /** Whether the setting, or a section around it, already has a problem. */
  function hasProblem(path: string): boolean {
    return upwards(path).some((ancestor) => broken.has(ancestor))
  }

  /** As `problem`, unless the setting, or a section around it, already has one. */
  function firstProblem(path: string, rest: string) {
    if (!hasProblem(path)) problem(path, rest)
  }

  /** Adds what a check finds about a setting, unless that has a problem already. */
  function check<Value>(
    path: string,
    value: Value | undefined,
    find: (value: Value) => string | undefined,
  ) {
    const found = value === undefined ? undefined : find(value)
    if (found !== undefined) firstProblem(path, `: ${found}`)
  }

  return {
    /** Records the place of a setting. */
    remember(path: string, place: Place) {
      places.set(path, place)
    },
    problem,
    firstProblem,
    check,
    /** `check` for each entry of a list. */
    checkEach<Entry>(
      path: string,
      entries: readonly (Entry | undefined)[] | undefined,
      find: (entry: Entry, index: number) => string | undefined,
    ) {
      entries?.forEach((entry, index) => {
        check(`${path}[${index}]`, entry, (one) => find(one, index))
      })
    },
    /** Adds a problem that does not belong to a known setting. */
    problemAt(place: Place, message: string) {
      problems.push({ ...place, message })
    },
    placeOf,
    hasProblem,
    problems(): readonly Problem[] {
      return problems.toSorted(
        (a, b) => (a.line ?? Infinity) - (b.line ?? Infinity) || (a.column ?? 0) - (b.column ?? 0),
      )
    },
  }
}

/** `a.b[0].c` and every section around it, up to the root `''`. */
function upwards(path: string): readonly string[] {
  const paths = [path]
  for (let rest = path; rest !== ''; ) {
    rest = rest.slice(0, Math.max(rest.lastIndexOf('.'), rest.lastIndexOf('['), 0))
    paths.push(rest)
  }
  return paths
}
