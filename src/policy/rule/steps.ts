/**
 * Work on many rows that can be put down between two of them: it yields now and then, and returns
 * its result at the end. Whoever drives it decides whether anything else gets a turn meanwhile.
 */
export type Steps<T> = Generator<undefined, T, undefined>

/** After how many rows a step ends: well under a millisecond of work. */
export const rowsPerStep = 128

/** Does all the work at once. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Does the work with a rest after every slice of `sliceMs`, as long as that was. */
export function finishWithRests<T>(
  steps: Steps<T>,
  { rest, sliceMs }: { readonly rest: (ms: number) => void; readonly sliceMs: number },
): T {
  let begun = performance.now()
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    const worked = performance.now() - begun
    if (worked < sliceMs) continue
    rest(worked)
    begun = performance.now()
  }
}

/** How work is cut into slices. */
export interface Slicing {
  /** Lets others run; called between two slices. */
  readonly pause: () => Promise<void>
  /** For how many milliseconds a slice goes on; with 0 there is a pause after every step. */
  readonly sliceMs: number
  /** Ends the work in a pause; it is then rejected with the reason. */
  readonly signal?: AbortSignal | undefined
}

/** Does the work in slices, with a pause whenever one has lasted its time. */
export async function finishInSlices<T>(
  steps: Steps<T>,
  { pause, sliceMs, signal }: Slicing,
): Promise<T> {
  let begun = performance.now()
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    if (performance.now() - begun < sliceMs) continue
    await pause()
    signal?.throwIfAborted()
    begun = performance.now()
  }
}
