import { execFileSync } from 'node:child_process'
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parsePrivateKey } from '../../src/signing/ssh-private-key.ts'
import { fingerprintOf, formatKeyLine, parseKeyLine } from '../../src/signing/ssh-public-key.ts'
import {
  createSignature,
  isGoodSignature,
  parseSignature,
} from '../../src/signing/ssh-signature.ts'
import { formatStatement } from '../../src/signing/statement.ts'
import { openPolicySigner } from '../../src/stores/keys/signing-key.ts'
import { person, sample } from './key-pairs.ts'

const hasSshKeygen = existsSync('/usr/bin/ssh-keygen')
const directory = mkdtempSync(join(tmpdir(), 'postern-ssh-'))
const place = { cwd: directory, env: { PATH: '/usr/bin:/bin' } }
const file = (name: string) => join(directory, name)
const sshKeygen = (args: readonly string[], input = '') =>
  execFileSync('ssh-keygen', args, { input, stdio: ['pipe', 'pipe', 'pipe'] }).toString()

afterAll(() => rmSync(directory, { recursive: true }))

describe('a line with a public key', () => {
  const alice = person('alice')

  test('is read and written as OpenSSH does', () => {
    expect(parseKeyLine(`  ${alice.line}\n`)).toMatchObject({ id: alice.id, comment: 'alice' })
    expect(parseKeyLine(formatKeyLine(alice, 'Alice of Security'))).toMatchObject({
      comment: 'Alice of Security',
    })
  })

  test.each([
    ['an RSA key', 'ssh-rsa AAAAB3NzaC1yc2E= bob', /type ssh-rsa: only ssh-ed25519/],
    ['a security key', 'sk-ssh-ed25519@openssh.com AAAA bob', /only ssh-ed25519/],
    ['a private key', '-----BEGIN OPENSSH PRIVATE KEY-----', /is not a public key/],
    ['options before the key', `no-pty ${alice.line}`, /is not a public key/],
    ['a key cut short', alice.line.slice(0, 60), /damaged/],
    [
      'a key with another type inside',
      alice.line.replace('AAAAC3NzaC1lZDI1NTE5', 'AAAAC3NzaC1lZDI1NTE4'),
      /damaged/,
    ],
    ['base64 that is not canonical', alice.line.replace(/ (\S+) alice/, ' $1= alice'), /damaged/],
    ['a line without an end', `ssh-ed25519 ${'A'.repeat(5000)}`, /longer than/],
    ['nothing', '', /is not a public key/],
  ])('is refused: %s', (_, line, reason) => {
    expect(parseKeyLine(line)).toMatch(reason)
  })

  test('never throws, whatever it contains', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String()), (text) => {
        parseKeyLine(text)
        parseKeyLine(`ssh-ed25519 ${text} x`)
        expect(
          parsePrivateKey(
            `-----BEGIN OPENSSH PRIVATE KEY-----\n${text}\n-----END OPENSSH PRIVATE KEY-----`,
          ),
        ).toBeTypeOf('string')
        expect(
          parsePrivateKey(`-----BEGIN PRIVATE KEY-----\n${text}\n-----END PRIVATE KEY-----`),
        ).toBeTypeOf('string')
      }),
    )
  })
})

describe('a signature', () => {
  const alice = person('alice')
  const text = formatStatement(sample)
  const armored = createSignature(text, 'postern-policy-live', alice.privateKey)

  test('verifies with its text only', () => {
    const signature = parseSignature(armored)

    expect(signature).toMatchObject({ namespace: 'postern-policy-live' })
    expect(signature?.keyId).toBe(alice.id)
    expect(signature && isGoodSignature(signature, text, alice)).toBe(true)
    expect(signature && isGoodSignature(signature, `${text} `, alice)).toBe(false)
    expect(signature && isGoodSignature(signature, text, person('bob'))).toBe(false)
  })

  test('is over its namespace too', () => {
    const other = Buffer.from(armored.split('\n').slice(1, -2).join(''), 'base64')
    const renamed = other.toString('latin1').replace('policy-live', 'policy-evil')
    const body = Buffer.from(renamed, 'latin1').toString('base64')
    const signature = parseSignature(
      `-----BEGIN SSH SIGNATURE-----\n${body}\n-----END SSH SIGNATURE-----\n`,
    )

    expect(signature?.namespace).toBe('postern-policy-evil')
    expect(signature && isGoodSignature(signature, text, alice)).toBe(false)
  })

  test('with any bit changed is refused, and never throws', () => {
    const bytes = Buffer.from(armored.split('\n').slice(1, -2).join(''), 'base64')
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes)
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      const body = changed.toString('base64')
      const signature = parseSignature(
        `-----BEGIN SSH SIGNATURE-----\n${body}\n-----END SSH SIGNATURE-----`,
      )
      const isGood = signature !== undefined && isGoodSignature(signature, text, alice)
      expect(isGood, `bit ${bit}`).toBe(false)
    }
  })

  test('that is cut short, too long or something else is not parsed', () => {
    for (let length = 0; length < armored.length - 1; length += 7) {
      expect(parseSignature(armored.slice(0, length))).toBeUndefined()
    }
    expect(parseSignature(armored + ' '.repeat(2000))).toBeUndefined()
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const body = Buffer.concat([Buffer.from('SSHSIG\0\0\0\x01'), bytes]).toString('base64')
        const wrapped = `-----BEGIN SSH SIGNATURE-----\n${body}\n-----END SSH SIGNATURE-----`
        expect(parseSignature(wrapped)).toBeUndefined()
      }),
    )
  })
})

describe('a key of small order', () => {
  // The identity and the basepoint: with such a key, any text has a signature that needs no secret.
  const identity = Buffer.from(`01${'00'.repeat(31)}`, 'hex')
  const base = Buffer.from(`58${'66'.repeat(31)}01${'00'.repeat(31)}`, 'hex')

  test.each([
    ['1', identity],
    ['2', Buffer.from(`ec${'ff'.repeat(30)}7f`, 'hex')],
    ['4', Buffer.alloc(32)],
  ])('verifies nothing: order %s', (_, raw) => {
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') }
    const key = createPublicKey({ key: jwk, format: 'jwk' })
    const texts = Array.from({ length: 16 }, (_, at) => Buffer.from(`policy ${at}`))
    const forgeries = [base, Buffer.concat([identity, Buffer.alloc(32)])]
    const accepted = texts.filter((text) => forgeries.some((one) => verify(null, text, key, one)))

    expect(accepted).toEqual([])
  })
})

test('settings in the environment, which may be secrets, are not passed to ssh-keygen', async () => {
  mkdirSync(file('fake'))
  const program = `#!/bin/sh\nenv > '${file('seen')}'\nexit 1\n`
  writeFileSync(file('fake/ssh-keygen'), program, { mode: 0o755 })
  writeFileSync(file('agent.pub'), person('agent').line)
  const env = {
    PATH: `${file('fake')}:/usr/bin:/bin`,
    SSH_AUTH_SOCK: 's',
    POSTERN_JWT__SECRET: 'x',
  }
  const signer = await openPolicySigner('agent.pub', { ...place, env })

  await expect(signer.sign(formatStatement(sample))).rejects.toThrow('did not sign')
  expect(readFileSync(file('seen'), 'utf8')).toContain('SSH_AUTH_SOCK=s')
  expect(readFileSync(file('seen'), 'utf8')).not.toContain('POSTERN_')
})

describe.skipIf(!hasSshKeygen)('ssh-keygen', () => {
  const text = formatStatement(sample)
  beforeAll(() => {
    sshKeygen(['-q', '-t', 'ed25519', '-N', '', '-C', 'plain', '-f', file('plain')])
    sshKeygen(['-q', '-t', 'ed25519', '-N', 'correct horse', '-C', 'locked', '-f', file('locked')])
    sshKeygen(['-q', '-t', 'rsa', '-b', '2048', '-N', '', '-f', file('rsa')])
  })

  test('verifies what Postern signs, for that purpose only', async () => {
    const signer = await openPolicySigner('plain', place)
    writeFileSync(file('signature'), await signer.sign(text))
    writeFileSync(file('allowed'), `plain ${readFileSync(file('plain.pub'), 'utf8')}`)
    const verified = (namespace: string) =>
      sshKeygen(
        [
          '-Y',
          'verify',
          '-f',
          file('allowed'),
          '-I',
          'plain',
          '-n',
          namespace,
          '-s',
          file('signature'),
        ],
        text,
      )

    expect(verified('postern-policy-live')).toContain(
      'Good "postern-policy-live" signature for plain',
    )
    expect(() => verified('postern-policy-shadow')).toThrow()
    expect(sshKeygen(['-l', '-f', file('plain.pub')])).toContain(fingerprintOf(signer.publicKey))
  })

  test.each(['sha256', 'sha512'])('makes signatures with %s that Postern verifies', (hash) => {
    const args = [
      '-Y',
      'sign',
      '-O',
      `hashalg=${hash}`,
      '-n',
      'postern-policy-live',
      '-f',
      file('plain'),
    ]
    const signature = parseSignature(sshKeygen(args, text))
    const line = parseKeyLine(readFileSync(file('plain.pub'), 'utf8'))

    if (typeof line === 'string') throw new Error(line)
    expect(signature && isGoodSignature(signature, text, line)).toBe(true)
    expect(line.comment).toBe('plain')
  })

  test('signs with a key that has a passphrase, which Postern never sees', async () => {
    writeFileSync(file('askpass'), '#!/bin/sh\necho correct horse\n', { mode: 0o700 })
    const env = { ...place.env, SSH_ASKPASS: file('askpass'), SSH_ASKPASS_REQUIRE: 'force' }
    const signer = await openPolicySigner('locked', { ...place, env })
    const signature = parseSignature(await signer.sign(text))

    expect(signature && isGoodSignature(signature, text, signer.publicKey)).toBe(true)
  })

  test('says why it did not sign', async () => {
    writeFileSync(file('wrong'), '#!/bin/sh\necho battery staple\n', { mode: 0o700 })
    const env = { ...place.env, SSH_ASKPASS: file('wrong'), SSH_ASKPASS_REQUIRE: 'force' }
    const signer = await openPolicySigner('locked', { ...place, env })
    await expect(signer.sign(text)).rejects.toThrow(/^ssh-keygen did not sign: .*passphrase/)

    const without = await openPolicySigner('locked', { ...place, env: { PATH: directory } })
    await expect(without.sign(text)).rejects.toThrow(/needs ssh-keygen, which is not installed/)
  })

  test('signs with the key of an agent, named by its .pub file', async () => {
    const agent = execFileSync('ssh-agent', ['-s']).toString()
    const [, socket = ''] = /SSH_AUTH_SOCK=([^;]+)/.exec(agent) ?? []
    const [, pid = ''] = /SSH_AGENT_PID=(\d+)/.exec(agent) ?? []
    try {
      sshKeygen(['-q', '-t', 'ed25519', '-N', '', '-C', 'held', '-f', file('held')])
      const env = { ...place.env, SSH_AUTH_SOCK: socket }
      execFileSync('ssh-add', ['-q', file('held')], { env, stdio: 'ignore' })
      rmSync(file('held'))
      const signer = await openPolicySigner('held.pub', { ...place, env })
      const signature = parseSignature(await signer.sign(text))

      expect(signature && isGoodSignature(signature, text, signer.publicKey)).toBe(true)
      expect(signer.isExposed).toBe(false)
    } finally {
      process.kill(Number(pid))
    }
  })

  test('makes keys of other types, which Postern refuses', async () => {
    await expect(openPolicySigner('rsa', place)).rejects.toThrow(/only Ed25519 keys sign policies/)
    await expect(openPolicySigner('rsa.pub', place)).rejects.toThrow(/only ssh-ed25519/)
  })
})

describe('a key file', () => {
  const text = formatStatement({ ...sample, purpose: 'shadow' })

  test('of "postern keys generate" signs for the purpose of the statement', async () => {
    const alice = person('alice')
    writeFileSync(file('alice.pem'), alice.pem, { mode: 0o644 })
    const signer = await openPolicySigner('alice.pem', place)
    const signature = parseSignature(await signer.sign(text))

    expect(signer).toMatchObject({ publicKey: { id: alice.id }, isExposed: true })
    expect(signature?.namespace).toBe('postern-policy-shadow')
    await expect(signer.sign('anything else')).rejects.toThrow(/not a policy statement/)
  })

  test('that is unusable is refused without a word of its content', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const pem = String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
    const encrypted = String(
      generateKeyPairSync('ed25519').privateKey.export({
        type: 'pkcs8',
        format: 'pem',
        cipher: 'aes-256-cbc',
        passphrase: 'x',
      }),
    )
    const files = {
      ec: [pem, /type ec: only Ed25519/],
      encrypted: [encrypted, /only OpenSSH private keys may have a passphrase/],
      secret: ['hunter2-hunter2', /is not a private key/],
      large: ['A'.repeat(20_000), /is too large/],
    } as const
    for (const [name, [content, reason]] of Object.entries(files)) {
      writeFileSync(file(name), content)
      const error = await openPolicySigner(name, place).catch(String)
      expect(error).toMatch(reason)
      const lines = content.split('\n').filter((line) => line.length > 10 && !line.startsWith('-'))
      for (const line of lines) expect(error).not.toContain(line)
    }
    await expect(openPolicySigner('absent', place)).rejects.toThrow(
      'absent: cannot be read (ENOENT)',
    )
  })
})
