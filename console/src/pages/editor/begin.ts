import type { PolicyFiles } from '#client'
import { ask, Problem } from '../../api.ts'
import { inOrder } from '../../lib/draft.ts'
import { filesQuestion } from '../../questions.ts'
import type { Draft } from '../../state/draft.ts'

/**
 * Begins a draft with a published policy, or without a revision with what the gateway loads. The tests are
 * those of the machine of the console: they are never published.
 */
export async function beginDraft(
  revision: string | undefined,
  signal: AbortSignal,
): Promise<Draft> {
  const [operation, parameters] = filesQuestion(revision)
  const { value } = await ask<PolicyFiles>(operation, parameters, { signal })
  const files = inOrder(value.files)
  const over = value.policy === 'live' ? value.revision : await liveRevision(signal)
  return { policy: value.policy, revision: value.revision, over, base: files, files }
}

/** The revision that gateways use; `null` where nothing is published. */
export async function liveRevision(signal?: AbortSignal): Promise<string | null> {
  try {
    const asking = { isOptional: true, ...(signal !== undefined && { signal }) }
    return (await ask<PolicyFiles>('policy/files', { revision: 'live' }, asking)).value.revision
  } catch (error) {
    if (error instanceof Problem) return null
    throw error
  }
}
