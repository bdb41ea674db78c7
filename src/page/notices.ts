import type { Message } from './layout.ts'
import type { Texts } from './texts/texts.ts'

/** What the address of the page reports, such as a logout. */
export function noticeOf(notice: string | undefined, texts: Texts): Message | undefined {
  if (notice === 'logged-out') return { text: texts.loggedOut, isError: false }
  if (notice === 'logged-out-here') return { text: texts.loggedOutHere, isError: false }
  return undefined
}
