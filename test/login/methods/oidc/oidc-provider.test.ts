import { describe, expect, onTestFinished, test } from 'vitest'
import { openProvider } from '../../../../src/login/methods/oidc/provider.ts'
import { fakeClient, startFakeProvider } from '../../../support/fake-provider.ts'
import { until } from '../../../support/until.ts'

/** Opens it as a gateway would, and keeps what is logged. */
function open(issuer: string) {
  const lines: string[] = []
  const write = (fields: object, text: string) =>
    void lines.push(`${text} ${JSON.stringify(fields)}`)
  const provider = openProvider(
    {
      ...{ name: 'corp', issuer, ...fakeClient, clientAuth: 'basic', scopes: ['openid'] },
      ...{ idTokenAlgorithm: 'RS256', timeoutMs: 5000, refreshSeconds: 300 },
    },
    { info: write, warn: write },
  )
  onTestFinished(provider.close)
  return { provider, lines }
}

describe('a provider', () => {
  test.each([
    ['a slash at its end', (right: string) => `${right}/`, undefined],
    [
      'another host',
      (right: string) => right.replace('127.0.0.1', 'localhost'),
      'http://127.0.0.1:1/realms/corp',
    ],
    ['http instead of https', (right: string) => right, 'https://sso.example.com/realms/corp'],
  ])('under a wrong issuer (%s) is reported with the right one', async (_, wrong, named) => {
    const fake = await startFakeProvider()
    const right = named ?? fake.issuer
    fake.discovery = { issuer: right }

    const { lines } = open(wrong(fake.issuer))
    await until(() => lines.length > 0)

    const reason = `the discovery document names issuer ${right}: use it as issuer`
    expect(lines[0]).toBe(
      `identity provider could not be discovered ${JSON.stringify({ provider: 'corp', reason })}`,
    )
  })

  test.each(['invalid_client', 'unauthorized_client'])(
    'that answers %s gets a hint about the settings of the client',
    async (error) => {
      const fake = await startFakeProvider()
      const { provider, lines } = open(fake.issuer)
      await until(() => lines.length > 0)
      fake.answer = (_, response) => {
        response.writeHead(401, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ error, error_description: 'hush' }))
      }

      const answer = { redirectUri: 'http://127.0.0.1:22000/x', state: 's', nonce: 'n' }
      const exchange = provider.exchange({ ...answer, code: 'c', verifier: 'v', iss: undefined })

      await expect(exchange).rejects.toMatchObject({
        part: 'identity-provider',
        message: `provider corp answered ${error}: check clientId, the client secret and clientAuth`,
      })
    },
  )
})
