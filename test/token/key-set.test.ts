import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { secretWeakness } from '../../src/config/checks/secret-strength.ts'
import { Invalid } from '../../src/kernel/errors.ts'
import { generateKeyFile } from '../../src/token/generate-key.ts'
import { parseKeySet } from '../../src/token/key-set.ts'
import { secretKey } from '../../src/token/keys.ts'
import { type KeyFiles, newKey } from '../support/keys.ts'
import { testSecret } from '../support/tokens.ts'

const a = newKey()
const b = newKey('EdDSA')
const pkcs8 = (key: KeyObject) => String(key.export({ type: 'pkcs8', format: 'pem' }))
const jwkOf = (key: KeyObject) => key.export({ format: 'jwk' })
const shared = (text: string) =>
  JSON.stringify({ kty: 'oct', k: Buffer.from(text).toString('base64url') })
const random = 'u8Zq-3mVx7Lw0Rk5Tn2Yc9Bf4Hd6Jg1P'

async function parse(files: KeyFiles, secret?: string) {
  const list = Object.entries(files).map(([name, text]) => ({ name: `keys/${name}`, text }))
  return parseKeySet('keys', list, {
    secret: secret === undefined ? undefined : await secretKey(secret),
    secretWeakness,
  })
}

async function problemsOf(files: KeyFiles): Promise<string[]> {
  const error: unknown = await parse(files).catch((thrown: unknown) => thrown)
  if (!(error instanceof Invalid)) throw new Error('it was taken')
  return error.problems.map(({ file, message }) => `${file}: ${message}`)
}

describe('which key signs', () => {
  const both = { 'a.pem': a.privatePem, 'b.pem': b.privatePem }

  test.each([
    ['the one that signer names', { ...both, signer: 'b\n' }, undefined, 'b'],
    ['the one that signer names, also beside a secret', { ...both, signer: 'a' }, testSecret, 'a'],
    ['the secret, when nobody names one', both, testSecret, undefined],
    ['the only private key', { 'a.pem': a.publicPem, 'b.pem': b.privatePem }, undefined, 'b'],
  ])('is %s', async (_, files, secret, kid) => {
    const { signer } = await parse(files, secret)

    expect([signer === undefined, signer?.kid]).toEqual([false, kid])
  })

  test('is none where all are public', async () => {
    expect((await parse({ 'a.pem': a.publicPem })).signer).toBeUndefined()
  })

  test.each([
    ['two could', both, 'keys: 2 keys can sign (a, b)'],
    ['signer names none', { ...both, signer: 'c' }, 'keys/signer: unknown kid'],
    ['signer is empty', { ...both, signer: '' }, 'keys/signer: unknown kid'],
    ['signer names a file', { ...both, signer: 'a.pem' }, 'keys/signer: unknown kid'],
    [
      'signer names a public key',
      { 'a.pem': a.publicPem, signer: 'a' },
      'the named key has no private part',
    ],
  ])('must be clear: %s', async (_, files, reason) => {
    expect(await problemsOf(files)).toEqual([expect.stringContaining(reason)])
  })
})

describe('a key file', () => {
  const sec1 = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey

  test.each([
    ['PKCS #8', { 'a.pem': a.privatePem }, 'ES256'],
    ['SEC1', { 'a.pem': String(sec1.export({ type: 'sec1', format: 'pem' })) }, 'ES256'],
    [
      'SEC1 behind its parameters, as OpenSSL writes it',
      {
        'a.pem': `-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n${sec1.export({ type: 'sec1', format: 'pem' })}`,
      },
      'ES256',
    ],
    ['PKCS #1', { 'a.pem': String(rsa.export({ type: 'pkcs1', format: 'pem' })) }, 'RS256'],
    ['a private JWK', { 'a.jwk': JSON.stringify(jwkOf(b.privateKey)) }, 'EdDSA'],
    [
      'a JWK that may only sign',
      { 'a.jwk': JSON.stringify({ ...jwkOf(rsa), key_ops: ['sign'] }) },
      'RS256',
    ],
    ['a shared secret', { 'a.jwk': shared(random) }, 'HS256'],
  ])('may be %s', async (_, files, algorithm) => {
    const { signer } = await parse(files)

    expect([signer?.kid, signer?.algorithm]).toEqual(['a', algorithm])
  })

  test.each(['ES256', 'RS256', 'EdDSA', 'HS256'] as const)(
    'that we make is one: %s',
    async (algorithm) => {
      const { name, text } = await generateKeyFile('mine', algorithm)

      expect((await parse({ [name]: text })).signer).toMatchObject({ kid: 'mine', algorithm })
    },
  )

  const encrypted = a.privateKey.export({
    type: 'pkcs8',
    format: 'pem',
    cipher: 'aes-256-cbc',
    passphrase: 'x',
  })
  const stranger = { ...jwkOf(a.privateKey), d: jwkOf(sec1).d }
  test.each([
    ['empty', 'a.pem', '', 'not a PEM file'],
    ['encrypted', 'a.pem', String(encrypted), 'is encrypted'],
    ['two keys', 'a.pem', a.privatePem + b.privatePem, 'more than one key'],
    ['a key and its public part', 'a.pem', a.privatePem + a.publicPem, 'more than one key'],
    [
      'a certificate',
      'a.pem',
      '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
      'contains a CERTIFICATE',
    ],
    [
      'RSA of 1024 bits',
      'a.pem',
      pkcs8(generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey),
      'at least 2048 bits',
    ],
    [
      'RSA with exponent 3',
      'a.pem',
      pkcs8(generateKeyPairSync('rsa', { modulusLength: 2048, publicExponent: 3 }).privateKey),
      'exponent',
    ],
    [
      'on another curve',
      'a.pem',
      pkcs8(generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey),
      'use RSA, EC on P-256',
    ],
    [
      'RSA-PSS',
      'a.pem',
      pkcs8(generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).privateKey),
      'unsupported type',
    ],
    ['X25519', 'a.pem', pkcs8(generateKeyPairSync('x25519').privateKey), 'unsupported key type'],
    ['halves of two keys', 'a.jwk', JSON.stringify(stranger), 'is unreadable|parts do not match'],
    [
      'for encryption',
      'a.jwk',
      JSON.stringify({ ...jwkOf(rsa), use: 'enc' }),
      'does not allow signatures',
    ],
    [
      'of another algorithm',
      'a.jwk',
      JSON.stringify({ ...jwkOf(rsa), alg: 'RS512' }),
      'does not match the key type',
    ],
    [
      'of another kid',
      'a.jwk',
      JSON.stringify({ ...jwkOf(rsa), kid: 'b' }),
      'differs from the file name',
    ],
    ['a set of keys', 'a.jwk', JSON.stringify({ keys: [jwkOf(rsa)] }), 'not a JWK'],
    ['a short secret', 'a.jwk', shared('0123456789abcdef'), 'shorter than 32 bytes'],
    [
      'a published secret',
      'a.jwk',
      shared('a-string-secret-at-least-256-bits-long'),
      'published default',
    ],
    ['zeros', 'a.jwk', shared('\0'.repeat(32)), 'repeats a short sequence'],
    ['a mistyped name', 'a.pme', a.privatePem, 'unexpected file name'],
    ['a name that is no kid', 'a b.pem', a.privatePem, 'unexpected file name'],
    ['a backup', 'a.pem~', a.privatePem, 'unexpected file name'],
  ])('is refused, and not quoted, when it is %s', async (_, name, text, reason) => {
    const [problem = '', ...more] = await problemsOf({ [name]: text })

    expect(problem).toMatch(new RegExp(`^keys/${name}: .*(?:${reason})`))
    expect(more).toEqual([])
    const secretPart = text.split('\n')[1]?.slice(10, 30)
    if (secretPart) expect(problem).not.toContain(secretPart)
  })
})

describe('a set of keys', () => {
  test.each([
    [
      'one kid twice',
      { 'a.pem': a.privatePem, 'a.jwk': JSON.stringify(jwkOf(b.privateKey)) },
      'same kid as',
    ],
    ['one key twice', { 'a.pem': a.privatePem, 'b.pem': a.publicPem }, 'same key as'],
    [
      'a shared secret among public keys',
      { 'a.jwk': shared(random), 'b.pem': b.publicPem },
      'shared secret beside public keys',
    ],
    ['none', {}, 'no keys found'],
    ['a signer alone', { signer: 'a' }, 'no keys found'],
  ])('is refused with %s', async (_, files, reason) => {
    expect(await problemsOf(files)).toEqual([expect.stringContaining(reason)])
  })

  test('is refused with every problem at once', async () => {
    const files = { 'a.pem': 'x', 'b.pem': 'y', 'c.txt': 'z' }

    expect(await problemsOf(files)).toHaveLength(3)
  })

  test('gives a kid its own key or none, and no kid the secret or none', async () => {
    const keyed = await parse({ 'a.pem': a.privatePem })
    const both = await parse({ 'a.pem': a.privatePem }, testSecret)

    const algorithms = [keyed, both].map((set) =>
      ['a', 'b', '', undefined].map((kid) => set.find(kid)?.algorithm),
    )
    expect(algorithms).toEqual([
      ['ES256', undefined, undefined, undefined],
      ['ES256', undefined, undefined, 'HS256'],
    ])
  })

  test('derives secrets that differ by key and by purpose, and only from private parts', async () => {
    const set = await parse({ 'a.pem': a.privatePem, 'b.pem': b.publicPem })
    const again = await parse({ 'a.jwk': JSON.stringify(jwkOf(a.privateKey)) })
    const derived = [
      set.findSigning('a')?.derive('captcha'),
      set.findSigning('a')?.derive('other'),
      set.findSigning('b')?.derive('captcha'),
    ]

    expect(new Set(derived).size).toBe(3)
    expect(derived[2]).toBeUndefined()
    expect(again.findSigning('a')?.derive('captcha')).toBe(derived[0])
  })
})
