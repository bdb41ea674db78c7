import { statusEnvelopes } from '../http/envelope.ts'
import { grpcTypeOf } from '../http/grpc/grpc-call.ts'
import { envelopeOf, keepOrClose, type ReplyError } from '../http/reply-error.ts'
import { Fault, Refusal } from '../kernel/errors.ts'
import { linkTo, ownTarget, readAddress } from './address.ts'
import type { Explain } from './explain.ts'
import { html } from './html.ts'
import { naming, pageTexts } from './language.ts'
import { layout } from './layout.ts'
import { headerOf, opensPage } from './navigation.ts'
import type { PageParts } from './parts.ts'
import { replyPage } from './reply-page.ts'

interface ErrorPageParts {
  readonly settings: Pick<PageParts['settings'], 'path' | 'language'>
  readonly hasLogo: boolean
  readonly hasLogout: boolean
  /** With real statuses, whatever JSON clients get. */
  readonly explain: Explain
}

/** Shows refusals and faults as a page to a browser that opens one. Others get `replyOther`. */
export function createErrorPages(parts: ErrorPageParts, replyOther: ReplyError): ReplyError {
  const { settings, hasLogo, hasLogout, explain } = parts
  const { path } = settings

  return (error, to) => {
    const { request, reply, requestId, arrival } = to
    const isKnown = error instanceof Refusal || error instanceof Fault
    const isPage = arrival !== undefined && opensPage(arrival) && grpcTypeOf(request) === undefined
    if (!isKnown || reply.headersSent || !isPage) {
      return replyOther(error, to)
    }
    const { method, target, notes, rawHeaders } = arrival
    const accepted = headerOf(rawHeaders, 'accept-language') ?? ''
    const again = method === 'GET' ? ownTarget(target) : undefined
    const address = { ...readAddress('', accepted, settings.language), to: again }
    const texts = pageTexts[address.language]
    const message = explain(error, address.language)
    const link = (href: string, text: string) => html`<li><a href="${href}">${text}</a></li>\n`
    const name = notes.caller?.username
    const account =
      name === undefined
        ? link(linkTo(path, address), texts.logIn)
        : hasLogout && link(linkTo(`${path}/logout`, address), texts.otherAccount)
    const view = html`${name !== undefined && html`<p>${naming(texts.loggedInAs, name)}</p>\n`}<p class="hint">${method} ${notes.path}</p>
<p class="hint">${requestId !== undefined && naming(texts.requestId, requestId)}</p>
<ul class="links">
${again !== undefined && link(again, texts.tryAgain)}${account}</ul>
`
    const frame = { path, address, title: undefined, hasLogo }
    const envelope = envelopeOf(error, statusEnvelopes)
    const { challenge } = envelope
    keepOrClose(request, reply, envelope)
    const page = layout(frame, texts.notShown, message, view)
    replyPage(reply, envelope.status, { page, language: texts.tag }, [
      ...(message.headers ?? []),
      ...(challenge === undefined ? [] : ['WWW-Authenticate', challenge]),
    ])
  }
}
