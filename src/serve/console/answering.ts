import { renderingOf } from '../../cli/commands/renderings.ts'
import type { AnswerSource } from '../../console/api/register.ts'

/** How the management API answers: as commands do in formats other than JSON. */
export const answering: AnswerSource = {
  renderingOf,
  // With the extension of this file: `.ts` in the source, `.js` in the build.
  threadFile: new URL(import.meta.url.replace(/answering(?=\.[jt]s$)/, 'answering-thread')),
}
