import { expect, test } from 'vitest'
import { dev } from '../support/log-in.ts'
import {
  cookieOf,
  goodForm,
  navigation,
  nextOf,
  postForm,
  startWithPage,
} from '../support/login-page.ts'

test('a logged-in caller sees who they are, changes the password and logs out', async () => {
  const postern = await startWithPage({ config: dev, ownDatabase: true })
  const login = await postForm(postern, '/login', goodForm(postern))
  const cookie = `Cookie: ${cookieOf(login)}`
  const get = (target: string) =>
    postern.call(`GET ${target}`, { headers: [cookie, ...navigation] })
  const home = await get('/login?to=/api/v1/articles/1')
  expect(home.body).toContain('You are logged in as editor.')
  expect(home.body).toContain('href="/api/v1/articles/1"')
  expect(home.body).toContain('href="/login/password?to=%2Fapi%2Fv1%2Farticles%2F1"')

  const form = await get('/login/password')
  expect(form.body).toContain('autocomplete="new-password"')
  const post = (target: string, fields: Record<string, string>) =>
    postForm(postern, target, fields, ['Sec-Fetch-Site: same-origin', cookie])
  const short = await post('/login/password', {
    oldPassword: postern.passwords['editor'] ?? '',
    newPassword: 'short',
  })
  expect(short.body).toContain('The password must have 8 to 72 bytes.')
  const newPassword = 'many words of no meaning'
  const oldPassword = postern.passwords['editor'] ?? ''
  const changed = await post('/login/password', { oldPassword, newPassword })
  expect(changed.body).toContain('Your password is changed.')
  expect(changed.body).not.toContain(newPassword)
  const relogin = await postForm(postern, '/login', { ...goodForm(postern), password: newPassword })
  expect(nextOf(relogin)).toBe('/')

  expect((await get('/login/logout')).body).toContain('<form method="post" action="/login/logout"')
  const left = await post('/login/logout', {})
  expect(left.status).toBe(303)
  expect(left.header('location')).toBe('/login?notice=logged-out')
  expect(left.header('set-cookie')).toMatch(/^jwt=; Max-Age=0/)
  expect((await get('/login?notice=logged-out')).body).toContain('You are logged out.')
  // Revoked, not only forgotten by the browser.
  const after = await get('/api/v1/articles/1')
  expect(after.header('location')).toContain('/login?to=')
  expect((await post('/login/logout', {})).header('location')).toBe('/login?to=%2Flogin%2Flogout')
})

test('a form of another site neither logs out nor changes a password', async () => {
  const postern = await startWithPage({ config: dev, ownDatabase: true })
  const cookie = `Cookie: ${cookieOf(await postForm(postern, '/login', goodForm(postern)))}`
  const headers = ['Sec-Fetch-Site: cross-site', 'Origin: https://evil.example', cookie]
  const oldPassword = postern.passwords['editor'] ?? ''
  const fields = { oldPassword, newPassword: 'chosen by an attacker' }
  for (const path of ['/login/password', '/login/logout']) {
    expect((await postForm(postern, path, fields, headers)).json()).toMatchObject({ code: 401 })
  }
  const again = await postern.call('GET /login', { headers: [cookie] })
  expect(again.body).toContain('You are logged in as editor.')
  expect(nextOf(await postForm(postern, '/login', goodForm(postern)))).toBe('/')
})
