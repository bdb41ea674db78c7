import { readOwnPath } from '../admission/own-path.ts'
import { statusEnvelopes } from '../http/envelope.ts'
import type { FindErrorPage } from '../http/error-page.ts'
import { grpcTypeOf } from '../http/grpc/grpc-call.ts'
import { envelopeOf } from '../http/reply-error.ts'
import { Fault, Refusal } from '../kernel/errors.ts'
import { linkTo, readAddress, withoutToken } from './address.ts'
import type { Explain } from './explain.ts'
import { html } from './html.ts'
import { naming, pageTexts } from './language.ts'
import { layout } from './layout.ts'
import { headerOf, opensPage } from './navigation.ts'
import type { PageParts } from './parts.ts'
import { pageHeaders } from './reply-page.ts'
import type { FindTemplate } from './templates.ts'

interface ErrorPageParts {
  readonly settings: Pick<PageParts['settings'], 'path' | 'language' | 'returns'>
  /** Whom people ask: an address, a mail address or any other text. */
  readonly contact: string | undefined
  readonly templateOf: FindTemplate
  readonly hasLogo: boolean
  readonly hasLogout: boolean
  /** With real statuses, whatever JSON clients get. */
  readonly explain: Explain
}

/** The page that shows a refusal or a fault to a browser that opens one; `undefined` for other clients. */
export function createErrorPages(parts: ErrorPageParts): FindErrorPage {
  const { settings, contact, templateOf, hasLogo, hasLogout, explain } = parts
  const { path } = settings

  return (error, arrival, requestId) => {
    const isKnown = error instanceof Refusal || error instanceof Fault
    if (!isKnown || !opensPage(arrival) || grpcTypeOf(arrival) !== undefined) return undefined
    const { method, target, notes, rawHeaders } = arrival
    const accepted = headerOf(rawHeaders, 'accept-language') ?? ''
    const again = method === 'GET' ? withoutToken(readOwnPath(target)) : undefined
    const address = { ...readAddress('', accepted, settings), to: again }
    const texts = pageTexts[address.language]
    const message = explain(error, address.language)
    const { status, challenge } = envelopeOf(error, statusEnvelopes)
    const user = notes.caller?.username
    const values = {
      status: String(status),
      title: texts.notShown,
      message: message.text,
      user,
      method,
      path: notes.path,
      requestId,
      contact,
      language: texts.tag,
      retryUrl: again,
      loginUrl: user === undefined ? linkTo(path, address) : undefined,
      logoutUrl: user !== undefined && hasLogout ? `${path}/logout` : undefined,
      switchUrl: user !== undefined && hasLogout ? linkTo(`${path}/logout`, address) : undefined,
    }
    const link = (href: string | undefined, text: string) =>
      href !== undefined && html`<li><a href="${href}">${text}</a></li>\n`
    const builtIn = () => {
      const view = html`${user !== undefined && html`<p>${naming(texts.loggedInAs, user)}</p>\n`}<p class="hint">${method} ${notes.path}</p>
${requestId !== undefined && html`<p class="hint">${naming(texts.requestId, requestId)}</p>\n`}${contact !== undefined && html`<p>${texts.contact} ${linked(contact)}</p>\n`}<ul class="links">
${link(values.retryUrl, texts.tryAgain)}${link(values.loginUrl, texts.logIn)}${link(values.logoutUrl, texts.logOut)}${link(values.switchUrl, texts.otherAccount)}</ul>
`
      return layout({ path, address, title: undefined, hasLogo }, texts.notShown, message, view)
    }
    const own = templateOf(status, address.language)
    const { text } = own?.render(values) ?? builtIn()
    return {
      status,
      headers: [
        ...pageHeaders(text, texts.tag, own?.styles ?? []),
        ...(message.headers ?? []),
        ...(challenge === undefined ? [] : ['WWW-Authenticate', challenge]),
      ],
      text,
    }
  }
}

/** A contact as a link, if browsers can open it. */
function linked(contact: string) {
  const isAddress = /^https?:\/\/[!-~]+$/.test(contact)
  if (!isAddress && !/^[!-~]+@[!-~]+$/.test(contact)) return contact
  return html`<a href="${isAddress ? contact : `mailto:${contact}`}">${contact}</a>`
}
