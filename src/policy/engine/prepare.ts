import { setImmediate } from 'node:timers/promises'
import { type PolicyFile, parseInSteps } from '../set/policy-set.ts'
import { finishInSlices, type Slicing, type Steps } from '../steps.ts'
import { type CompiledSet, compileInSteps } from './compile.ts'

/** Short enough that a request which arrives in the middle of a slice does not notice. */
const usualSliceMs = 1

/**
 * `parsePolicySet` and `compile` in slices, so that the event loop can run in between. Rejects with
 * `Invalid` if the files are not a valid policy.
 */
export async function preparePolicies(
  files: readonly PolicyFile[],
  { pause = setImmediate<void>, sliceMs = usualSliceMs, signal }: Partial<Slicing> = {},
): Promise<CompiledSet> {
  return finishInSlices(prepareInSteps(files), { pause, sliceMs, signal })
}

function* prepareInSteps(files: readonly PolicyFile[]): Steps<CompiledSet> {
  return yield* compileInSteps(yield* parseInSteps(files))
}
