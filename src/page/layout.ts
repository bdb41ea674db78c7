import { linkTo, type PageAddress } from './address.ts'
import { type Html, html } from './html.ts'
import { naming, pageTexts, type Texts } from './language.ts'

/** What the document around every view needs. */
interface Document {
  /** Where the page is. */
  readonly path: string
  readonly address: PageAddress
  /** The configured heading. */
  readonly title: string | undefined
  readonly hasLogo: boolean
  /** The path that the browser opens by itself. */
  readonly next?: string
  /** Where this view is, for the switch of languages. Absent: a page of the application, without one and without scripts. */
  readonly viewPath?: string
}

/** What all views of one page have in common. */
export interface Frame extends Document {
  readonly viewPath: string
}

export interface Message {
  readonly text: string
  readonly isError: boolean
  /** Absent: 200. */
  readonly status?: number
  /** Headers of the response, such as Retry-After. */
  readonly headers?: readonly string[]
}

/** What the address of the page reports, such as a logout. */
export function noticeOf(notice: string | undefined, texts: Texts): Message | undefined {
  if (notice === 'logged-out') return { text: texts.loggedOut, isError: false }
  if (notice === 'logged-out-here') return { text: texts.loggedOutHere, isError: false }
  return undefined
}

/** The document around a view. A message comes first and has the focus, so that readers hear it. */
export function layout(frame: Document, heading: string, message: Message | undefined, view: Html) {
  const { path, address, hasLogo, next, viewPath } = frame
  const texts = pageTexts[address.language]
  const title = message?.isError ? naming(texts.errorTitle, heading) : heading
  return html`<!doctype html>
<html lang="${texts.tag}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
${next !== undefined && refresh(next)}<title>${title}</title>
<link rel="icon" href="${path}/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${path}/style.css">
${viewPath !== undefined && html`<script src="${path}/script.js" defer></script>\n`}</head>
<body>
<main>
${hasLogo && html`<img class="logo" src="${path}/logo" alt="">\n`}<h1>${heading}</h1>
${message && messageBox(message)}${view}
</main>
<footer>${viewPath !== undefined && languageSwitch(viewPath, address)}</footer>
</body>
</html>
`
}

/** A quote would end the address in the text of the refresh, also as a character reference. */
function refresh(next: string): Html {
  return html`<meta http-equiv="refresh" content="0;url='${next.replaceAll("'", '%27')}'">\n`
}

function messageBox({ text, isError }: Message): Html {
  if (!isError) return html`<p class="notice" role="status">${text}</p>\n`
  return html`<p class="problem" id="problem" role="alert" tabindex="-1" autofocus>${text}</p>\n`
}

/** Each language is named in itself, for readers who know no other. */
function languageSwitch(viewPath: string, address: PageAddress): Html {
  const links = (['en', 'zh'] as const).map((language) => {
    const { tag, ownName } = pageTexts[language]
    if (language === address.language) {
      return html`<li><span lang="${tag}" aria-current="true">${ownName}</span></li>`
    }
    const href = linkTo(viewPath, address, { language })
    return html`<li><a href="${href}" lang="${tag}" hreflang="${tag}">${ownName}</a></li>`
  })
  return html`<nav aria-label="${pageTexts[address.language].languages}"><ul>${links}</ul></nav>`
}
