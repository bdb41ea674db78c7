import type { RequestListener } from 'node:http'
import { expect, test } from 'vitest'
import { oidcSettings, startFakeProvider } from '../support/fake-provider.ts'
import { OidcBrowser } from '../support/oidc-browser.ts'
import { startPostern } from '../support/start-postern.ts'

const json =
  (text: string, status = 200): RequestListener =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(text)
  }

/** What a token endpoint may answer, and the code of the gateway. */
const answers: Record<string, readonly [RequestListener, number]> = {
  huge: [json('x'.repeat(300_000)), 503],
  'cut short': [json('{"id_token":"hush.hush.hush","access_token":"hush"'), 503],
  'a server error': [json('hush', 500), 503],
  'a redirect': [(_, response) => response.writeHead(302, { location: '/hush' }).end(), 503],
  'an unknown error': [json('{"error":"hu\\r\\nsh","error_description":"hush"}', 400), 503],
  'no object': [json('[]'), 400],
  'no ID token': [json('{"access_token":"hush","token_type":"bearer"}'), 400],
  'no JWT': [json('{"access_token":"hush","token_type":"bearer","id_token":"hush"}'), 400],
  'a JWT of nothing': [json('{"access_token":"h","token_type":"bearer","id_token":"a.b.c"}'), 503],
  'a cut connection': [(request) => request.socket.destroy(), 503],
  'half an answer': [(_, response) => void response.writeHead(200).write('{'), 503],
  silence: [() => {}, 503],
}

test('whatever a provider answers, no login follows, and the log tells no secret', async () => {
  const provider = await startFakeProvider()
  const oidc = [oidcSettings(provider.issuer, { timeoutMs: 800 })]
  const config = { cookie: { set: true }, login: { oidc, perAddressPerMinute: 100_000 } }
  const postern = await startPostern({ ownDatabase: true, config })
  const browser = new OidcBrowser()
  const secrets = ['hush', 'a-secret-of-the-client']

  for (const [what, [answer, code]] of Object.entries(answers)) {
    const good = provider.approve(await browser.begin(postern, 'corp'))
    secrets.push(...Object.values(good))
    provider.answer = answer
    const got = await browser.callback(postern, 'corp', good)
    provider.answer = undefined
    expect({ what, code: (got.json() as { code: number }).code }).toEqual({ what, code })
    expect(browser.cookies.has('jwt'), what).toBe(false)
  }
  const last = provider.approve(await browser.begin(postern, 'corp'))
  expect((await browser.callback(postern, 'corp', last)).status).toBe(303)

  const log = postern.logText()
  for (const secret of [...secrets, ...Object.values(last)]) expect(log).not.toContain(secret)
  expect(log.split('timeout: no complete answer within 800 ms')).toHaveLength(3)
})
