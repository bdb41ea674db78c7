import { describe, expect, test } from 'vitest'
import { askAbout, asked, contractNames } from '../support/forward-auth.ts'
import { startPostern } from '../support/start-postern.ts'

const value = 'hostile'

const presets = {
  'oauth2-proxy': [
    ...['X-Forwarded-User', 'X-Forwarded-Preferred-Username'],
    ...['X-Forwarded-Email', 'X-Forwarded-Groups'],
  ],
  authelia: ['Remote-User', 'Remote-Name', 'Remote-Email', 'Remote-Groups'],
} as const

const claims = { groups: 'X-Groups', email: 'Mail_Address', 'urn:x/y': 'X.Unit' }

/** The lines with which a client sends one header. */
const spellings: Readonly<Record<string, (name: string) => readonly string[]>> = {
  'as it is': (name) => [`${name}: ${value}`],
  'in lower case': (name) => [`${name.toLowerCase()}: ${value}`],
  'in upper case': (name) => [`${name.toUpperCase()}: ${value}`],
  'with underscores': (name) => [`${name.replaceAll(/[-.]/g, '_')}: ${value}`],
  'with one underscore': (name) => [`${name.replace('-', '_')}: ${value}`],
  'with dots': (name) => [`${name.replaceAll(/[-_]/g, '.')}: ${value}`],
  'with hyphens': (name) => [`${name.replaceAll(/[._]/g, '-')}: ${value}`],
  'with other marks': (name) => [`${name.replaceAll(/[-._]/g, '!')}: ${value}`],
  twice: (name) => [`${name}: ${value}`, `${name.toLowerCase()}: ${value}`],
  'listed in Connection': (name) => [`${name}: ${value}`, `Connection: close, ${name}`],
  'as binary metadata': (name) => [`${name}-Bin: ${value}`],
  'as binary metadata with underscores': (name) => [`${name.replaceAll('-', '_')}_bin: ${value}`],
  'as metadata of grpc-gateway': (name) => [`Grpc-Metadata-${name}: ${value}`],
  'as binary metadata of grpc-gateway': (name) => [`grpc_metadata_${name}_bin: ${value}`],
}

const forms = Object.entries(spellings)

describe.each(Object.entries(presets))('with the preset %s and claims', (preset, own) => {
  const headers = { preset, claims }
  const names = [...own, ...Object.values(claims)]
  const cases = names.flatMap((name) =>
    forms.map(([how, write]) => [name, how, write(name)] as const),
  )

  test.each([
    ['HTTP/1.1', false],
    ['HTTP/2', true],
  ])('a client over %s sets none of their headers, in any spelling', async (_, http2) => {
    const postern = await startPostern({
      config: { application: { h2c: true }, headers },
      routes: [
        { path: '/', upstream: 'backend' },
        { path: '/open', upstream: 'backend', access: 'public', reason: 'a test' },
      ],
    })

    for (const [, , lines] of cases) {
      const options = { headers: lines, http2, as: 'editor' }
      const { status } = await postern.call('GET /api/v1/public/a', options)
      const open = await postern.call('GET /open/a', { headers: lines, http2 })
      expect([status, open.status]).toEqual([200, 200])
    }

    const { requests } = postern.upstream
    expect(requests).toHaveLength(cases.length * 2)
    expect(requests.filter((sent) => JSON.stringify(sent.headers).includes(value))).toEqual([])
    const [known, open] = requests
    expect(known?.values(own[0] ?? '')).toEqual(['editor-user'])
    expect(names.flatMap((name) => open?.values(name))).toEqual([])
  })

  test.each(contractNames)('nor behind %s', async (contract) => {
    const routes = [{ path: '/open', access: 'public', reason: 'a test' }]
    const postern = await startPostern({ config: asked({ headers }), routes })

    for (const [name, how, lines] of cases) {
      for (const [line, as] of [
        ['GET /api/v1/public/a', 'editor'],
        ['GET /open/a', undefined],
      ] as const) {
        const answer = await askAbout(postern, contract, line, {
          headers: lines,
          ...(as !== undefined && { as }),
        })
        const set = new Map(answer.headers.map(([key, text]) => [key.toLowerCase(), text]))
        const removed = (set.get('x-envoy-auth-headers-to-remove') ?? '').toLowerCase().split(', ')
        const isSafe = (key: string) => set.has(key) || removed.includes(key)
        const sent = lines
          .map((each) => each.split(':')[0]?.toLowerCase() ?? '')
          .filter((key) => key !== 'connection')
        const exact = sent.every((key) => key === name.toLowerCase())

        const what = `${line} ${name} ${how}`
        expect([what, JSON.stringify(answer.headers).includes(value)]).toEqual([what, false])
        // Envoy removes it. The others refuse it, or replace the header that they are told to copy.
        if (contract === 'envoy') expect([what, sent.every(isSafe)]).toEqual([what, true])
        else expect([what, answer.status]).toEqual([what, exact ? 200 : 400])
      }
    }
  })
})
