import type { Reply } from '../gateway/reply.ts'
import type { Authorized } from '../gateway/stages.ts'
import { redirect } from '../http/redirect-reply.ts'
import { logoutView, passwordView, providerLogoutView } from './account-views.ts'
import { linkTo } from './address.ts'
import { pageTexts } from './language.ts'
import { type Message, noticeOf } from './layout.ts'
import { addressOf, frameOf, readForm } from './page-requests.ts'
import type { PageParts } from './parts.ts'
import { replyPage } from './reply-page.ts'

/** What callers do with their own login: change the password, and log out. */
export function createAccountPages(parts: PageParts) {
  const { settings, explain } = parts

  function showPassword({ received, token }: Authorized, reply: Reply, message?: Message): void {
    const frame = frameOf(received, parts)
    const page = passwordView(frame, token?.caller.username ?? '', message)
    const language = pageTexts[frame.address.language].tag
    replyPage(reply, message?.status ?? 200, { page, language }, message?.headers)
  }

  async function submitPassword(authorized: Authorized, reply: Reply): Promise<void> {
    const { received, token } = authorized
    const fields = await readForm(received, reply, 'bad-password-request')
    const { language } = addressOf(received, settings)
    try {
      const revoked = await parts.changePassword({
        fields,
        token,
        address: received.origin.address,
        foreign: parts.crossSite(received) !== undefined,
      })
      received.arrival.notes.revoked = revoked
      const { passwordChanged, passwordChangedHere } = pageTexts[language]
      const text = revoked === 'here' ? passwordChangedHere : passwordChanged
      showPassword(authorized, reply, { text, isError: false })
    } catch (error) {
      const explained = explain(error, language)
      received.arrival.notes.shown = error
      showPassword(authorized, reply, explained)
    }
  }

  function showLogout({ received }: Authorized, reply: Reply): void {
    const frame = frameOf(received, parts)
    const language = pageTexts[frame.address.language].tag
    replyPage(reply, 200, { page: logoutView(frame), language })
  }

  /**
   * The token is revoked already (`admit`). A session that is left at an identity provider logs in again
   * with one click, so the page offers to end it. A link: `form-action` forbids a redirect to there.
   */
  async function submitLogout({ received, token }: Authorized, reply: Reply): Promise<void> {
    const from = { address: received.origin.address, userAgent: received.headers.userAgent }
    parts.record(from, token?.caller.username ?? '', 'logged-out')
    const notice = received.arrival.notes.revoked === 'here' ? 'logged-out-here' : 'logged-out'
    const address = addressOf(received, settings)
    const ending = token?.kind === 'user' ? await parts.endSessionUrl?.(token.id) : undefined
    if (ending === undefined) {
      // Reloading the next page does not send the form again.
      const next = linkTo(settings.path, address, { notice })
      return redirect(reply, 303, next, parts.cookie.cleared)
    }
    const texts = pageTexts[address.language]
    const frame = { ...frameOf(received, parts), address }
    const page = providerLogoutView(frame, ending, noticeOf(notice, texts))
    replyPage(reply, 200, { page, language: texts.tag }, parts.cookie.cleared)
  }

  return { showPassword, submitPassword, showLogout, submitLogout }
}
