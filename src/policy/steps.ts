/** Work on many rows that yields every few rows, so that its caller can let others run (decision 15). */
export type Steps<T> = Generator<undefined, T, undefined>

/** The rows of a step: well under a millisecond of work. */
export const rowsPerStep = 128

/** Runs all steps at once. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Runs the steps, and calls `rest` after every slice of `sliceMs`. */
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
  /** Lets others run between two slices. */
  readonly pause: () => Promise<void>
  /** Milliseconds for each slice. 0: one step for each slice. */
  readonly sliceMs: number
  /** Aborts the work at the next pause. */
  readonly signal?: AbortSignal | undefined
}

/** Runs the steps in slices, with a pause after each. */
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

/** Reports the progress of long work. */
export type Tick = (done: number, total: number) => void
