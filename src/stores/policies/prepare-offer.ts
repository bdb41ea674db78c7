import { Fault, Invalid } from '../../kernel/errors.ts'
import { type DomainSource, domainProblem } from '../../policy/domain.ts'
import type { CompiledPolicies } from '../../policy/engine/decision.ts'
import { preparePolicies } from '../../policy/engine/prepare.ts'
import type { LargeOffer, Offer } from './policy-source.ts'

/** Compiles without touching the active policy. A policy that was rejected is not parsed again at every poll. */
export function createPrepare(signal: AbortSignal, domain: DomainSource | undefined) {
  let refused: { readonly checksum: string; readonly error: Error } | undefined

  async function resultOf(offer: Offer | LargeOffer): Promise<CompiledPolicies | Error> {
    if ('loading' in offer) return offer.loading.compiled
    try {
      return await preparePolicies(offer.files, { signal })
    } catch (error) {
      if (signal.aborted || !(error instanceof Error)) throw error
      return error
    }
  }

  return async function prepare(offer: Offer | LargeOffer): Promise<CompiledPolicies> {
    const { checksum, revision } = offer
    if (refused?.checksum === checksum) {
      if ('loading' in offer) offer.loading.end()
      throw refused.error
    }
    const result = await resultOf(offer)
    const problem = result instanceof Error ? result : problemOf(result, revision, domain)
    if (problem === undefined) return result as CompiledPolicies
    refused = { checksum, error: problem }
    throw problem
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
