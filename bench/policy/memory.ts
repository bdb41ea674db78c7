import { setTimeout as wait } from 'node:timers/promises'
import { preparePolicies } from '../../src/policy/engine/prepare.ts'
import { createSample } from './policy.ts'

/** The bytes that live on the heap and in buffers, after what is dead has been collected. */
export async function memory(): Promise<number> {
  for (let again = 0; again < 3; again++) {
    await wait(10)
    globalThis.gc?.()
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/** Has the code compiled that prepares policies: it is not what a rule costs. */
export async function warmUp(): Promise<void> {
  for (let again = 0; again < 5; again++) await preparePolicies(createSample(5_000).files)
}
