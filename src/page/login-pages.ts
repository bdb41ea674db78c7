import { readCookie } from '../gateway/carriers.ts'
import type { Reply } from '../gateway/reply.ts'
import type { Received } from '../gateway/stages.ts'
import { Fault, Refusal, type RefusalKind } from '../kernel/errors.ts'
import type { OfferedCaptcha } from '../login/captcha/captcha.ts'
import type { Fields } from '../login/fields.ts'
import type { VerifiedToken } from '../token/tokens.ts'
import { loggedInView } from './account-views.ts'
import { pageTexts } from './language.ts'
import { type Message, noticeOf } from './layout.ts'
import { errorOfName } from './login-errors.ts'
import { loginView, movingOnView } from './login-view.ts'
import { addressOf, frameOf, readForm } from './page-requests.ts'
import type { PageParts } from './parts.ts'
import { replyPage } from './reply-page.ts'

/** What a failed attempt leaves on the form. */
interface Attempted {
  readonly username: string
  readonly isOtpNeeded: boolean
}

const firstTime: Attempted = { username: '', isOtpNeeded: false }

/** Shows the login form, and logs in with it. */
export function createLoginPages(parts: PageParts) {
  const { settings, explain } = parts
  const frame = (received: Received) => frameOf(received, parts)

  async function show(received: Received, reply: Reply): Promise<void> {
    const address = addressOf(received, settings)
    const texts = pageTexts[address.language]
    const failed = errorOfName(address.error)
    const message: Message | undefined =
      failed === undefined ? noticeOf(address.notice, texts) : explain(failed, address.language)
    const token = failed === undefined ? await loggedIn(received) : undefined
    if (token === undefined) return showForm(received, reply, firstTime, message)

    const { username: name, userId } = token.caller
    const password = parts.pages.password && (await parts.hasPassword(userId))
    const goOn = address.to ?? settings.afterLogin
    const page = loggedInView(
      frame(received),
      { name, goOn, pages: { ...parts.pages, password } },
      message,
    )
    replyPage(reply, 200, { page, language: texts.tag })
  }

  async function submit(received: Received, reply: Reply): Promise<void> {
    const foreign = parts.crossSite(received) !== undefined
    const fields = await readForm(received, reply, 'bad-login-request')
    const { address: origin } = received.origin
    const address = addressOf(received, settings)
    try {
      // Login CSRF: a page of another site could log its visitor in to the attacker's account.
      if (foreign) throw new Refusal('cross-site-cookie', { reason: 'login form of another site' })
      const issued = await parts.login({
        fields,
        cookie: (name) => readCookie(received, name),
        address: origin,
        userAgent: received.headers.userAgent,
        foreign,
      })
      const page = movingOnView(frame(received), address.to ?? settings.afterLogin)
      const language = pageTexts[address.language].tag
      replyPage(reply, 200, { page, language }, parts.cookie.issued(issued.token))
    } catch (error) {
      const explained = explain(error, address.language)
      received.arrival.notes.shown = error
      const isOtpNeeded = error instanceof Refusal && otpRefusals.has(error.kind)
      const username = foreign ? '' : typedName(fields)
      await showForm(received, reply, { username, isOtpNeeded }, explained)
    }
  }

  async function showForm(
    received: Received,
    reply: Reply,
    { username, isOtpNeeded }: Attempted,
    message: Message | undefined,
  ): Promise<void> {
    const { form } = parts
    const { language, to } = addressOf(received, settings)
    const offered = form.hasPassword ? await offerCaptcha(received) : undefined
    const isRefused = offered !== undefined && 'isError' in offered
    const shown = isRefused ? offered : message
    const view = loginView(
      frame(received),
      {
        ...form,
        username,
        goOn: to ?? settings.afterLogin,
        captcha: isRefused ? undefined : offered,
        // Without its captcha the form cannot be sent.
        hasPassword: form.hasPassword && !isRefused,
        otp: isOtpNeeded ? 'needed' : form.hasSecondFactor ? 'optional' : 'hidden',
      },
      shown,
    )
    const { status = 200, headers = [] } = shown ?? {}
    replyPage(reply, status, { page: view, language: pageTexts[language].tag }, headers)
  }

  /** A captcha, why there is none, or `undefined` where none is needed. */
  async function offerCaptcha(received: Received): Promise<OfferedCaptcha | Message | undefined> {
    if (parts.captchas === undefined) return undefined
    const foreign = parts.crossSite(received) !== undefined
    try {
      await parts.throttle.captcha({ address: received.origin.address, foreign })
      return await parts.captchas.offer()
    } catch (error) {
      const explained = explain(error, addressOf(received, settings).language)
      received.arrival.notes.shown ??= error
      return explained
    }
  }

  /** The user who is logged in by cookie. The next page would not send any other token. */
  async function loggedIn(received: Received): Promise<VerifiedToken | undefined> {
    const token = readCookie(received, parts.cookie.name)
    if (token === undefined || token === '') return undefined
    try {
      const verified = await parts.verifyToken(token)
      return verified.kind === 'user' ? verified : undefined
    } catch (error) {
      if (error instanceof Refusal || error instanceof Fault) return undefined
      throw error
    }
  }

  return { show, submit }
}

/** What was typed as the name, also where the rest of the form was refused. */
function typedName(fields: () => Fields): string {
  try {
    return fields().optionalText('username', 128) ?? ''
  } catch {
    return ''
  }
}

const otpRefusals: ReadonlySet<RefusalKind> = new Set<RefusalKind>(['otp-needed', 'wrong-otp'])
