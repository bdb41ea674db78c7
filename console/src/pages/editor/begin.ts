import { Problem } from '#client'
import { ask } from '../../api.ts'
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
  const { document } = await ask(...filesQuestion(revision), { signal })
  const files = inOrder(document.files)
  const { policy } = document
  const over = policy === 'live' ? document.revision : await liveRevision(signal)
  return { policy, revision: document.revision, over, base: files, files }
}

/** The revision that gateways use; `null` where nothing is published. */
export async function liveRevision(signal?: AbortSignal): Promise<string | null> {
  try {
    const asking = { isOptional: true, ...(signal !== undefined && { signal }) }
    return (await ask('policy/files', { revision: 'live' }, asking)).document.revision
  } catch (error) {
    if (error instanceof Problem) return null
    throw error
  }
}
