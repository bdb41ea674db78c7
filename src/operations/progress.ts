/** Shows progress to a person who has waited for a second. */
export interface Progress {
  /** Replaces what was shown before. Cheap to call often. */
  readonly show: (words: () => string) => void
  /** Clears the line. */
  readonly end: () => void
}

/** The percentage of the work that is done, for `show`. */
export function percentOf(what: string): (done: number, total: number) => string {
  return (done, total) => `${what}: ${Math.floor((done * 100) / Math.max(total, 1))} %`
}

/** Runs `work` with a function that shows how far it has come. */
export function withProgress<Result>(
  what: string,
  { progress }: { readonly progress?: Progress },
  work: (tick: (done: number, total: number) => void) => Result,
): Result {
  const words = percentOf(what)
  const result = work((done, total) => progress?.show(() => words(done, total)))
  progress?.end()
  return result
}
