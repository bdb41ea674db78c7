import type { ProviderLogout } from '../login/login-method.ts'
import { linkTo } from './address.ts'
import { type Html, html } from './html.ts'
import { naming, pageTexts } from './language.ts'
import { type Frame, layout, type Message } from './layout.ts'
import type { PageParts } from './parts.ts'

/** For a caller who is logged in already. */
export function loggedInView(
  frame: Frame,
  { name, goOn, pages }: { name: string; goOn: string; pages: PageParts['pages'] },
  message: Message | undefined,
): Html {
  const { path, address, title } = frame
  const texts = pageTexts[address.language]
  const link = (to: string, text: string) =>
    html`<li><a href="${linkTo(`${path}/${to}`, address)}">${text}</a></li>\n`
  const view = html`<p>${naming(texts.loggedInAs, name)}</p>
<p><a class="button" href="${goOn}">${texts.goOn}</a></p>
<ul class="links">
${pages.password && link('password', texts.changePassword)}${pages.logout && link('logout', texts.logOut)}</ul>
`
  return layout(frame, title ?? texts.title, message, view)
}

/** The name is for password managers, which then know whose password it is. */
export function passwordView(frame: Frame, name: string, message: Message | undefined): Html {
  const { path, viewPath, address } = frame
  const texts = pageTexts[address.language]
  const view = html`<form method="post" action="${linkTo(viewPath, address)}">
<input class="unseen" name="username" value="${name}" autocomplete="username" readonly tabindex="-1" aria-hidden="true">
<label for="oldPassword">${texts.oldPassword}</label>
<input id="oldPassword" name="oldPassword" type="password" required autocomplete="current-password"${message === undefined && html` autofocus`}>
<label for="newPassword">${texts.newPassword}</label>
<input id="newPassword" name="newPassword" type="password" required autocomplete="new-password" aria-describedby="new-hint">
<p class="hint" id="new-hint">${texts.newPasswordHint}</p>
<button type="submit">${texts.changePassword}</button>
</form>
<p><a href="${linkTo(path, address)}">${texts.goOn}</a></p>
`
  return layout(frame, texts.changePassword, message, view)
}

export function logoutView(frame: Frame): Html {
  const { path, viewPath, address } = frame
  const texts = pageTexts[address.language]
  const view = html`<p>${texts.logOutQuestion}</p>
<form method="post" action="${linkTo(viewPath, address)}">
<button type="submit">${texts.logOut}</button>
</form>
<p><a href="${linkTo(path, address)}">${texts.goOn}</a></p>
`
  return layout(frame, texts.logOut, undefined, view)
}

/** After the logout here. The caller may still be logged in at the identity provider. */
export function providerLogoutView(
  frame: Frame,
  { provider, url }: ProviderLogout,
  message: Message | undefined,
): Html {
  const { path, address } = frame
  const texts = pageTexts[address.language]
  // The path of this view asks to log out, which needs a login.
  const view = html`<p>${naming(texts.stillLoggedInAt, provider)}</p>
<p><a class="button" href="${url}">${naming(texts.logOutAt, provider)}</a></p>
<p><a href="${linkTo(path, address)}">${texts.logInAgain}</a></p>
`
  return layout({ ...frame, viewPath: path }, texts.logOut, message, view)
}
