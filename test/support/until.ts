import { setTimeout as pause } from 'node:timers/promises'

/** Waits until it holds. What never does ends with the time of its test. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await pause(10)
}
