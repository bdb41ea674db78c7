import { Fault, Invalid } from '../../kernel/errors.ts'
import { type DomainSource, domainProblem } from '../../policy/domain.ts'
import type { CompiledPolicies } from '../../policy/engine/decision.ts'
import { preparePolicies } from '../../policy/engine/prepare.ts'
import type { PolicyFile } from '../../policy/set/policy-set.ts'
import type { LargeOffer, Offer } from './policy-source.ts'

/** Compiles without touching the active policy. A policy that was rejected is not parsed again at every poll. */
export function createPrepare(signal: AbortSignal, domain: DomainSource | undefined) {
  let refused: { readonly checksum: string; readonly error: Error } | undefined

  return async function prepare(offer: Offer | LargeOffer): Promise<CompiledPolicies> {
    const { checksum, revision } = offer
    if (refused?.checksum === checksum) {
      if ('loading' in offer) offer.loading.end()
      throw refused.error
    }
    const result = await ('loading' in offer
      ? offer.loading.compiled
      : preparedOrRefused(offer.files, signal))
    const problem = result instanceof Error ? result : problemOf(result, revision, domain)
    if (problem === undefined) return result as CompiledPolicies
    refused = { checksum, error: problem }
    throw problem
  }
}

/** The policy made ready, or what is wrong with it. */
export async function preparedOrRefused(
  files: readonly PolicyFile[],
  signal: AbortSignal | undefined,
): Promise<CompiledPolicies | Error> {
  try {
    return await preparePolicies(files, { signal })
  } catch (error) {
    if (signal?.aborted === true || !(error instanceof Error)) throw error
    return error
  }
}

/** Why a policy that can be compiled must not be used here. */
function problemOf(
  compiled: CompiledPolicies,
  labelled: string | undefined,
  domain: DomainSource | undefined,
): Error | undefined {
  if ((labelled ?? compiled.revision) !== compiled.revision) {
    const reason = `revision mismatch: labelled ${labelled}, content is ${compiled.revision}`
    return new Fault('policies', { reason })
  }
  const message = domainProblem(compiled.hasDomain, domain)
  return message === undefined ? undefined : new Invalid([{ file: 'model.conf', message }])
}
