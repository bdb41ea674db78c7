import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { issuerAlgorithms } from '../../../src/token/issuers/issuer.ts'
import { parseIssuerKeySet } from '../../../src/token/issuers/issuer-key-set.ts'

const ec = (namedCurve = 'P-256') => generateKeyPairSync('ec', { namedCurve }).publicKey
const rsa = (modulusLength = 2048, publicExponent = 65537) =>
  generateKeyPairSync('rsa', { modulusLength, publicExponent }).publicKey
const jwk = (key: KeyObject, more: object = {}) => ({ ...key.export({ format: 'jwk' }), ...more })

function read(
  keys: unknown,
  accepted: Parameters<typeof parseIssuerKeySet>[1] = ['RS256', 'ES256'],
) {
  return parseIssuerKeySet(Buffer.from(JSON.stringify({ keys })), accepted)
}

describe('the key set of another issuer', () => {
  test('has each key once for every accepted algorithm that fits it', async () => {
    const keys = [
      jwk(rsa(), { kid: 'r' }),
      jwk(ec(), { kid: 'e' }),
      jwk(ec('P-384'), { kid: 'f' }),
      jwk(ec('P-521'), { kid: 'g' }),
      jwk(generateKeyPairSync('ed25519').publicKey, { kid: 'd' }),
    ]

    const few = await read(keys)
    const all = await read(keys, issuerAlgorithms)

    expect(few.keys.map(({ kid, algorithm }) => [kid, algorithm])).toEqual([
      ['r', 'RS256'],
      ['e', 'ES256'],
    ])
    expect(few.skipped.map(({ kid }) => kid)).toEqual(['f', 'g', 'd'])
    expect(all.keys).toHaveLength(10)
  })

  test('heeds "alg", "use" and "key_ops"', async () => {
    const { keys, skipped } = await read(
      [
        jwk(rsa(), { kid: 'one', alg: 'RS256', use: 'sig', key_ops: ['verify'] }),
        jwk(rsa(), { kid: 'other-alg', alg: 'PS512' }),
        jwk(rsa(), { kid: 'hmac', alg: 'HS256' }),
        jwk(rsa(), { kid: 'encryption', use: 'enc' }),
        jwk(rsa(), { kid: 'operations', key_ops: ['wrapKey'] }),
      ],
      ['RS256', 'RS512'],
    )

    expect(keys.map(({ kid, algorithm }) => [kid, algorithm])).toEqual([['one', 'RS256']])
    expect(skipped.map(({ kid }) => kid)).toEqual(['other-alg', 'hmac', 'encryption', 'operations'])
  })

  test.each([
    ['a shared secret', { kty: 'oct', k: 'AAAA'.repeat(20) }, /shared secret/],
    ['a short RSA key', jwk(rsa(1024)), /2048 bits/],
    ['a small exponent', jwk(rsa(2048, 3)), /exponent/],
    [
      'a private key',
      generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }),
      /private key/,
    ],
    ['a point off the curve', jwk(ec(), { x: jwk(ec()).x }), /unreadable/],
    ['no object', 'text', /JSON object/],
    ['no object either', null, /JSON object/],
    ['a kid that is not a text', jwk(ec(), { kid: 7 }), /"kid"/],
    ['a long kid', jwk(ec(), { kid: 'k'.repeat(257) }), /"kid"/],
    ['an unknown type', { kty: 'AKP' }, /no accepted algorithm/],
  ])('leaves out %s, and keeps the others', async (_, bad, reason) => {
    const { keys, skipped } = await read([bad, jwk(ec(), { kid: 'good' })])

    expect(keys.map(({ kid }) => kid)).toEqual(['good'])
    expect(skipped[0]?.reason).toMatch(reason)
    await expect(read([bad])).rejects.toThrow(/^no usable key: /)
  })

  test.each([
    ['no JSON', '<html>'],
    ['a list', '[]'],
    ['no keys', '{}'],
    ['keys that are no list', '{"keys":{}}'],
    ['an empty list', '{"keys":[]}'],
    ['deep nesting', `{"keys":${'['.repeat(100_000)}`],
  ])('is refused as a whole if it is %s', async (_, text) => {
    await expect(parseIssuerKeySet(Buffer.from(text), ['ES256'])).rejects.toThrow()
  })

  test('has at most 100 keys', async () => {
    const key = jwk(ec())
    const keys = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ ...key, kid: `${at}` }))

    expect((await read(keys(100))).keys).toHaveLength(100)
    await expect(read(keys(101))).rejects.toThrow('101 keys; at most 100 are accepted')
  })

  test('uses no key whose kid another key has too, and one that is merely listed twice', async () => {
    const twice = jwk(ec(), { kid: 'twice' })
    const { keys, choose } = await read([
      jwk(ec(), { kid: 'both' }),
      jwk(ec(), { kid: 'both' }),
      jwk(rsa(), { kid: 'both' }),
      twice,
      twice,
    ])

    expect(keys.map(({ kid, algorithm }) => [kid, algorithm])).toEqual([
      ['both', 'RS256'],
      ['twice', 'ES256'],
    ])
    expect(choose('both', 'ES256')).toBeUndefined()
  })

  test('chooses by kid and algorithm, and says when it does not know the kid', async () => {
    const { choose } = await read([jwk(ec(), { kid: 'e' }), jwk(rsa(), { kid: 'r' })])

    expect(choose('e', 'ES256')).toMatchObject({ kid: 'e' })
    expect(choose('e', 'RS256')).toBeUndefined()
    expect(choose('x', 'ES256')).toBe('unknown')
    expect(choose(undefined, 'ES256')).toMatchObject({ kid: 'e' })
    expect(choose(undefined, 'none')).toBeUndefined()
  })

  test('chooses no key for a token without kid if two would fit', async () => {
    const { choose } = await read([jwk(ec()), jwk(ec())])

    expect(choose(undefined, 'ES256')).toBeUndefined()
  })

  test('knows its keys by what they are, not by kid', async () => {
    const key = jwk(ec())
    const before = await read([{ ...key, kid: 'a' }])
    const renamed = await read([{ ...key, kid: 'b' }])
    const other = await read([jwk(ec(), { kid: 'a' })])
    const identity = before.keys[0]?.identity ?? ''

    expect(renamed.has(identity)).toBe(true)
    expect(other.has(identity)).toBe(false)
  })
})
