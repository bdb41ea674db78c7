import type { OfferedCaptcha } from '../login/captcha/captcha.ts'
import { linkTo } from './address.ts'
import { type Html, html } from './html.ts'
import { naming, pageTexts } from './language.ts'
import { type Frame, layout, type Message } from './layout.ts'
import type { PageParts } from './parts.ts'

/** What the form needs to know about the configuration and the reader. */
interface LoginForm extends Pick<PageParts['form'], 'hasPassword' | 'buttons' | 'hasDigitsOnly'> {
  /** `undefined` where the page needs none. */
  readonly captcha: OfferedCaptcha | undefined
  readonly otp: 'needed' | 'optional' | 'hidden'
  /** Kept after a failed attempt. The password never is. */
  readonly username: string
  /** Where a login with a provider goes on. */
  readonly goOn: string
}

/**
 * Goes on by itself. Not a redirect: Chromium applies `form-action` to all redirects after a form, so a
 * target that leads to another host would leave the browser on the form, without a word.
 */
export function movingOnView(frame: Frame, goOn: string): Html {
  const texts = pageTexts[frame.address.language]
  const view = html`<p><a class="button" href="${goOn}">${texts.goOn}</a></p>\n`
  return layout({ ...frame, next: goOn }, frame.title ?? texts.title, undefined, view)
}

export function loginView(frame: Frame, form: LoginForm, message: Message | undefined): Html {
  const texts = pageTexts[frame.address.language]
  const isBoth = form.hasPassword && form.buttons.length > 0
  const view = html`${form.hasPassword && passwordForm(frame, form, message)}${
    isBoth && html`<p class="or">${texts.or}</p>\n`
  }${form.buttons.length > 0 && providerLinks(frame, form)}`
  return layout(frame, frame.title ?? texts.title, message, view)
}

function passwordForm(frame: Frame, form: LoginForm, message: Message | undefined): Html {
  const texts = pageTexts[frame.address.language]
  const { username } = form
  // The message has the focus after an error, else the first empty field.
  const focus = (wanted: boolean) => message === undefined && wanted && html` autofocus`
  return html`<form method="post" action="${linkTo(frame.path, frame.address)}">
<label for="username">${texts.username}</label>
<input id="username" name="username" value="${username}" required maxlength="128" autocomplete="username" autocapitalize="none" spellcheck="false"${focus(username === '')}>
<label for="password">${texts.password}</label>
<input id="password" name="password" type="password" required autocomplete="current-password"${focus(username !== '')}>
${otpField(frame, form)}${captchaFields(frame, form)}<button type="submit">${texts.logIn}</button>
</form>
`
}

/** No numeric keyboard: on a phone nobody could type the letters of a recovery code. */
function otpField({ address }: Frame, { otp }: LoginForm): Html | false {
  if (otp === 'hidden') return false
  const texts = pageTexts[address.language]
  const hint = otp === 'needed' ? texts.otpHint : `${texts.otpHint} ${texts.otpOptional}`
  return html`<label for="otp">${texts.otp}</label>
<input id="otp" name="otp" maxlength="64" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" aria-describedby="otp-hint"${otp === 'needed' && html` required`}>
<p class="hint" id="otp-hint">${hint}</p>
`
}

/** Modes without captcha need its fields too. */
function captchaFields(frame: Frame, { captcha, hasDigitsOnly }: LoginForm): Html {
  if (captcha === undefined) {
    return html`<input type="hidden" name="uuid" value="-"><input type="hidden" name="code" value="-">
`
  }
  const { path, address } = frame
  const texts = pageTexts[address.language]
  const { sound } = address
  const source = (file: string) =>
    `${path}/${file}?${new URLSearchParams({ text: captcha.sealed, lang: address.language })}`
  return html`<div id="captcha">
<label for="code">${sound ? texts.captchaSound : texts.captcha}</label>
${
  sound
    ? html`<audio controls src="${source('captcha.wav')}" aria-label="${texts.recording}"></audio>`
    : html`<img src="${source('captcha.png')}" width="240" height="80" alt="${texts.picture}">`
}
<p class="choices"><a href="${linkTo(path, address)}" data-captcha>${sound ? texts.newRecording : texts.newPicture}</a>
<a href="${linkTo(path, address, { sound: !sound })}" data-captcha>${sound ? texts.lookInstead : texts.listenInstead}</a></p>
<input id="code" name="code" required maxlength="32" autocomplete="off" autocapitalize="none" spellcheck="false"${hasDigitsOnly && html` inputmode="numeric"`}>
<input type="hidden" name="uuid" value="${captcha.id}">
</div>
`
}

function providerLinks({ path: pagePath, address }: Frame, { buttons, goOn }: LoginForm): Html {
  const texts = pageTexts[address.language]
  const query = new URLSearchParams({ to: goOn })
  const links = buttons.map(
    ({ name, label, icon, path }) =>
      html`<li><a class="button" href="${path}?${query.toString()}">${
        icon !== undefined && html`<img src="${pagePath}/icon-${name}" alt="">`
      }${naming(texts.logInWith, label)}</a>
<a href="${path}?${query.toString()}&prompt=select_account">${naming(texts.useOtherAccount, label)}</a></li>\n`,
  )
  return html`<ul class="providers">
${links}</ul>
`
}
