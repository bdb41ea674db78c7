import { setImmediate } from 'node:timers/promises'
import { finishInSlices, type Slicing, type Steps } from '../rule/steps.ts'
import { type PolicyFile, parseInSteps } from '../set/policy-set.ts'
import { type CompiledSet, compileInSteps } from './compile.ts'

/** Short enough that a request which arrives in the middle of a slice does not notice. */
const usualSliceMs = 1

/**
 * Reads, checks and compiles the files of a policy directory, as `parsePolicySet` and `compile` do,
 * without keeping the event loop for longer than a slice. Rejects with `Invalid` for files that
 * cannot be used.
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
