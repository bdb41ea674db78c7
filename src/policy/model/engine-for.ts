import type { Model } from './model.ts'

/** Which engine answers for a model, and why. */
interface EngineChoice {
  readonly name: 'index' | 'casbin'
  readonly reason: string
}

/** The index for models of the covered grammar, casbin for any other one. */
export function engineFor({ casbin }: Model): EngineChoice {
  if (casbin === undefined) {
    return {
      name: 'index',
      reason:
        'the model is in the index grammar: decision time does not depend on the number of rules',
    }
  }
  const why = casbin.notCovered.join('; ')
  return { name: 'casbin', reason: `${why}; decision time grows with the number of rules` }
}
