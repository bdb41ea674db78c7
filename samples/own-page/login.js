/*
 * A login page on an origin of its own. The browser keeps the token in an HttpOnly cookie, so this script
 * neither sees nor stores it: a script that an attacker injects cannot steal it.
 */

const gateway = document.querySelector('meta[name=postern]').content
const element = (id) => document.getElementById(id)
let captchaId = ''

/** Calls Postern with the cookie. The body says whether it worked: the status is 200 for most refusals. */
async function call(path, init = {}) {
  const response = await fetch(`${gateway}/api/v1/${path}`, { ...init, credentials: 'include' })
  return response.json()
}

async function showCaptcha() {
  const { code, id, data, msg } = await call('getCaptcha')
  if (code !== 200) return say(msg)
  captchaId = id
  element('picture').src = data
  element('code').value = ''
}

async function logIn(event) {
  event.preventDefault()
  const { username, password, code, otp } = Object.fromEntries(new FormData(element('login')))
  const answer = await call('login', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ username, password, uuid: captchaId, code, otp }),
  })
  if (answer.code === 200) return showUser()
  say(answer.msg)
  // Shown from the first refusal on: which refusal it was must not be guessed from its text.
  element('second-factor').hidden = false
  // Each picture is good for one attempt.
  await showCaptcha()
}

async function showUser() {
  const { code, data } = await call('user/profile')
  const isLoggedIn = code === 200
  element('login').hidden = isLoggedIn
  element('welcome').hidden = !isLoggedIn
  say('')
  if (!isLoggedIn) return showCaptcha()
  element('password').value = ''
  element('name').textContent = data.user.username
}

async function logOut() {
  const { code, msg } = await call('logout', { method: 'POST' })
  await showUser()
  if (code !== 200) say(msg)
}

function say(message) {
  element('message').textContent = message
}

/** A gateway that cannot be reached, or that does not list this origin in `cors.origins`. */
const unreachable = () => say('The gateway cannot be reached. Try again later.')

element('login').addEventListener('submit', (event) => logIn(event).catch(unreachable))
element('refresh').addEventListener('click', () => showCaptcha().catch(unreachable))
element('logout').addEventListener('click', () => logOut().catch(unreachable))
showUser().catch(unreachable)
