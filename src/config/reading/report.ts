import type { Problem } from '../../errors.ts'
import type { Place } from './tree.ts'

/** Collects problems by the setting they are about, and knows where each setting was written. */
export interface Report {
  /** Notes where a setting was written. */
  remember(path: string, place: Place): void
  /** A problem of a setting, put where the setting or else its nearest section was written. */
  problem(path: string, message: string): void
  /** A problem of something that is no setting. */
  problemAt(place: Place, message: string): void
  /** Whether the setting itself, or a section around it, has a problem already. */
  isBroken(path: string): boolean
  /** Where the setting, or else its nearest section, was written. */
  placeOf(path: string): Place
  problems(): readonly Problem[]
}

/** An empty report on one source; `origin` is the place of what stands nowhere. */
export function createReport(origin: Place): Report {
  const places = new Map<string, Place>()
  const broken = new Set<string>()
  const problems: Problem[] = []

  function placeOf(path: string): Place {
    const known = upwards(path).find((ancestor) => places.has(ancestor))
    return (known === undefined ? undefined : places.get(known)) ?? origin
  }

  return {
    remember(path, place) {
      places.set(path, place)
    },
    problem(path, message) {
      broken.add(path)
      problems.push({ ...placeOf(path), message })
    },
    problemAt(place, message) {
      problems.push({ ...place, message })
    },
    placeOf,
    isBroken(path) {
      return upwards(path).some((ancestor) => broken.has(ancestor))
    },
    problems() {
      return problems.toSorted(
        (a, b) => (a.line ?? Infinity) - (b.line ?? Infinity) || (a.column ?? 0) - (b.column ?? 0),
      )
    },
  }
}

/** `a.b[0].c` and everything around it, up to the root, which is the empty text. */
function upwards(path: string): readonly string[] {
  const paths = [path]
  for (let rest = path; rest !== ''; ) {
    rest = rest.slice(0, Math.max(rest.lastIndexOf('.'), rest.lastIndexOf('['), 0))
    paths.push(rest)
  }
  return paths
}
