import { expect, test } from 'vitest'
import { runCommand } from '../support/run-command.ts'
import { testSecret } from '../support/tokens.ts'

test.each([
  ['{ host: 0.0.0.0 }', 'console.host: "0.0.0.0" is not a loopback address'],
  ['{ host: console.example.com }', 'set console.tls, or set console.url to the https://'],
  ['{ host: "::1" }', undefined],
  ['{ host: 0.0.0.0, url: "https://console.example.com" }', undefined],
  ['{ url: "http://console.example.com" }', 'console.url must use https://'],
  ['{ url: "http://localhost:9300" }', undefined],
  ['{ url: "https://console.example.com/console" }', 'console.url'],
  ['{ tls: { certFile: no.crt, keyFile: no.key } }', 'console.tls: '],
  ['{ roles: { reader: [admin] } }', '"admin" is already in console.roles.reader; keep one'],
  ['{ services: { reader: [ci] } }', 'console.services: service tokens are off; set'],
  ['{ services: { reader: [ci], publisher: [ci] } }', '"ci" is already in console.services.reader'],
  ['{ services: { publishers: [ci] } }', 'did you mean console.services.publisher?'],
  ['{ services: { publisher: ci } }', 'console.services.publisher'],
  ['{ enabled: true, port: 9100 }', 'console.port: 9100 is already used by ops.port'],
  ['{ roles: { readers: [] } }', 'did you mean console.roles.reader?'],
])('config check judges the section console: %s', async (text, problem) => {
  const env = { POSTERN_CONSOLE: text, POSTERN_JWT__SECRET: testSecret }
  const { code, out, err } = await runCommand(['config', 'check', 'config/production.yaml'], {
    env: { ...env, POSTERN_REDIS__URL: 'redis://r', POSTERN_DATABASE__URL: 'postgres://d/p' },
  })
  if (problem === undefined) expect(out + err).not.toContain('console')
  else expect([code, out + err]).toEqual([3, expect.stringContaining(problem)])
})

test('config check accepts services of the console where service tokens are on', async () => {
  const { code, out, err } = await runCommand(['config', 'check', 'config/production.yaml'], {
    env: {
      POSTERN_CONSOLE: '{ services: { author: [ci], publisher: [release] } }',
      POSTERN_TOKENS: '{ service: { enabled: true } }',
      ...{ POSTERN_JWT__SECRET: testSecret, POSTERN_REDIS__URL: 'redis://r' },
      POSTERN_DATABASE__URL: 'postgres://d/p',
    },
  })
  expect([code, `${out}${err}`.includes('console')]).toEqual([0, false])
})
