import { Fault } from '../../errors.ts'
import type { CompiledPolicies } from '../../policy/engine/decision.ts'
import { preparePolicies } from '../../policy/engine/prepare.ts'
import type { LargeOffer, Offer } from './policy-source.ts'

/** Compiles without touching the active policy. A policy that was rejected is not parsed again at every poll. */
export function createPrepare(signal: AbortSignal) {
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
    if (!(result instanceof Error) && (revision ?? result.revision) === result.revision) {
      return result
    }
    const error =
      result instanceof Error
        ? result
        : new Fault('policies', {
            reason: `revision mismatch: labelled ${revision}, content is ${result.revision}`,
          })
    refused = { checksum, error }
    throw error
  }
}
