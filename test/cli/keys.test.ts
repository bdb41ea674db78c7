import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { openPolicySigner } from '../../src/stores/keys/signing-key.ts'
import { readTrust } from '../../src/stores/keys/trusted-keys.ts'
import { newKey, signedBy } from '../support/keys.ts'
import { runCommand } from '../support/run-command.ts'

let cwd: string
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'postern-keys-cli-'))
  onTestFinished(() => rm(cwd, { recursive: true, force: true }))
})

function keys(...args: readonly string[]) {
  return runCommand(['keys', ...args], { cwd })
}

const inKeys = (name: string) => join(cwd, 'keys', name)

describe('postern keys generate', () => {
  test.each([
    [[], 'pem', 'ES256'],
    [['--alg', 'RS256'], 'pem', 'RS256'],
    [['--alg', 'EdDSA'], 'pem', 'EdDSA'],
    [['--alg', 'HS256'], 'jwk', 'HS256'],
  ])(
    '%j makes a key that only its owner can read, and prints its kid alone',
    async (args, ending, alg) => {
      const { code, out, err } = await keys('generate', '--out', 'keys', ...args)

      const kid = out.trim()
      expect(code).toBe(0)
      expect(kid).toMatch(/^\d{4}-\d\d-\d\d-[0-9a-f]{6}$/)
      expect((await stat(inKeys(`${kid}.${ending}`))).mode & 0o777).toBe(0o600)
      expect((await stat(join(cwd, 'keys'))).mode & 0o777).toBe(0o700)
      expect(err).toContain('jwt.keyDirectory')
      const listed = JSON.parse((await keys('list', 'keys', '--output', 'json')).out)
      expect(listed).toMatchObject({ signer: kid, keys: [{ kid, algorithm: alg, role: 'signs' }] })
    },
  )

  test('never overwrites, under whichever ending', async () => {
    await keys('generate', '--out', 'keys', '--kid', 'a', '--alg', 'HS256')
    await keys('use', 'a', 'keys')
    const before = await readFile(inKeys('a.jwk'), 'utf8')

    const again = await keys('generate', '--out', 'keys', '--kid', 'a', '--alg', 'HS256')
    const other = await keys('generate', '--out', 'keys', '--kid', 'a')

    expect([again.code, other.code]).toEqual([1, 1])
    expect(again.err).toContain('keys are never overwritten')
    expect(await readFile(inKeys('a.jwk'), 'utf8')).toBe(before)
    expect((await readdir(join(cwd, 'keys'))).sort()).toEqual(['a.jwk', 'signer'])
  })

  test('adds no key that would leave gateways in doubt about which one signs', async () => {
    await keys('generate', '--out', 'keys', '--kid', 'a')

    const second = await keys('generate', '--out', 'keys', '--kid', 'b')
    const named = await keys('use', 'a', 'keys')
    const third = await keys('generate', '--out', 'keys', '--kid', 'b')

    expect([second.code, named.code, third.code]).toEqual([1, 0, 0])
    expect(second.err).toContain('postern keys use a keys')
    expect(third.err).toContain('does not sign yet')
  })

  test('adds no shared secret among public keys', async () => {
    await keys('generate', '--out', 'keys', '--kid', 'a')
    await keys('use', 'a', 'keys')

    const mixed = await keys('generate', '--out', 'keys', '--alg', 'HS256')

    expect(mixed.code).toBe(1)
    expect(mixed.err).toContain('shared secret beside public keys')
  })

  test.each([
    ['--alg', 'HS512'],
    ['--kid', '../a'],
    ['--kid', ''],
    ['--kid', 'a/b'],
    ['--kid', '.a'],
    ['surplus', '--kid', 'a'],
  ])('refuses %s %s and writes nothing', async (...args) => {
    const { code, err } = await keys('generate', '--out', 'keys', ...args)

    expect(code).toBe(2)
    expect(err).toContain('Usage: postern keys generate')
    expect(await readdir(cwd)).toEqual([])
  })
})

describe('postern keys generate --for policy', () => {
  test('makes a key that signs policies, and prints the line for policy.trust.keys', async () => {
    const { code, out, err } = await keys('generate', '--for', 'policy', '--kid', 'ann')

    expect(code).toBe(0)
    expect(out).toMatch(/^ssh-ed25519 AAAA\S+ ann\n$/)
    expect(await readFile(join(cwd, 'ann.pub'), 'utf8')).toBe(out)
    expect((await stat(join(cwd, 'ann.pem'))).mode & 0o777).toBe(0o600)
    expect(err).toContain('postern policy push --key ann.pem')
    const trust = readTrust({ keys: [out.trim()], signatures: 1 }, cwd)
    const signer = await openPolicySigner('ann.pem', { cwd, env: {} })
    expect(trust.keys).toMatchObject([{ name: 'ann', id: signer.publicKey.id }])
    expect(signer.isExposed).toBe(false)
  })

  test('never overwrites a key, and leaves no half of one', async () => {
    await writeFile(join(cwd, 'ann.pub'), 'of another key')
    const before = await keys('generate', '--for', 'policy', '--kid', 'ann')
    await keys('generate', '--for', 'policy', '--kid', 'ben')
    const again = await keys('generate', '--for', 'policy', '--kid', 'ben')

    expect([before.code, again.code]).toEqual([1, 1])
    expect((await readdir(cwd)).sort()).toEqual(['ann.pub', 'ben.pem', 'ben.pub'])
  })

  test.each([
    [['--kid', 'ann', '--alg', 'RS256'], '--alg: RS256 does not sign policies'],
    [['--kid', '../ann'], '--kid: "../ann" is not valid'],
    [
      ['--kid', 'ann', '--config', 'postern.yaml', '--out', './keys'],
      '--out: ./keys is jwt.keyDirectory',
    ],
  ])('refuses %j', async (args, message) => {
    await writeFile(join(cwd, 'postern.yaml'), 'jwt: { keyDirectory: keys }\n')
    const { code, err } = await keys('generate', '--for', 'policy', ...args)

    expect(code).toBe(2)
    expect(err).toContain(message)
  })
})

describe('postern keys list', () => {
  test('shows kid, algorithm, role and thumbprint, and nothing that is secret', async () => {
    const { out: kid } = await keys('generate', '--out', 'keys', '--kid', 'a')
    await keys('use', kid.trim(), 'keys')
    await keys('generate', '--out', 'keys', '--kid', 'b', '--alg', 'EdDSA')
    await writeFile(inKeys('c.pem'), newKey('RS256').publicPem)

    const { code, out, err } = await keys('list', 'keys')

    const rows = out.split('\n').map((line) => line.split(/ {2,}/))
    expect(code).toBe(0)
    expect(rows.map((row) => row.slice(0, 3))).toEqual([
      ['KID', 'ALG', 'ROLE'],
      ['a', 'ES256', 'signs'],
      ['b', 'EdDSA', 'could sign'],
      ['c', 'RS256', 'verifies'],
      [''],
    ])
    expect(rows[1]?.[3]).toMatch(/^[\w-]{43}$/)
    expect(err).toBe('')
  })

  test('shows no thumbprint of a shared secret, which is a digest of it', async () => {
    await keys('generate', '--out', 'keys', '--kid', 'a', '--alg', 'HS256')

    const { out } = await keys('list', 'keys', '--output', 'json')

    expect(JSON.parse(out).keys).toEqual([
      { kid: 'a', algorithm: 'HS256', role: 'signs', thumbprint: null, file: 'a.jwk' },
    ])
  })

  test('warns about a private key that others can read', async () => {
    await keys('generate', '--out', 'keys', '--kid', 'a')
    await chmod(inKeys('a.pem'), 0o644)

    expect((await keys('list', 'keys')).err).toMatch(
      /warning: other users can read .*a\.pem: run "chmod 0400 .*a\.pem"/,
    )
  })

  test('takes the directory of the configuration, and says with exit code 3 what it cannot use', async () => {
    await writeFile(join(cwd, 'p.yaml'), 'jwt: { keyDirectory: keys }\n')
    await keys('generate', '--config', 'p.yaml', '--kid', 'a')
    await writeFile(inKeys('b.pem'), 'nothing')

    const { code, err } = await keys('list', '--config', 'p.yaml')

    expect([code, err.trim()]).toEqual([3, `${inKeys('b.pem')}: not a PEM file`])
  })
})

describe('postern keys use', () => {
  test('names the key that signs, and refuses one that cannot', async () => {
    await keys('generate', '--out', 'keys', '--kid', 'a')
    await keys('use', 'a', 'keys')
    await keys('generate', '--out', 'keys', '--kid', 'b')
    await writeFile(inKeys('c.pem'), newKey().publicPem)

    const used = await keys('use', 'b', 'keys')
    const unknown = await keys('use', 'd', 'keys')
    const onlyPublic = await keys('use', 'c', 'keys')

    expect([used.code, unknown.code, onlyPublic.code]).toEqual([0, 1, 1])
    expect(await readFile(inKeys('signer'), 'utf8')).toBe('b\n')
  })
})

describe('postern token inspect', () => {
  test('finds the key of a token in the directory, and no other', async () => {
    const [ours, theirs] = [newKey('EdDSA'), newKey('EdDSA')]
    await keys('generate', '--out', 'keys', '--kid', 'a')
    await keys('use', 'a', 'keys')
    await writeFile(inKeys('b.pem'), ours.publicPem)
    await writeFile(join(cwd, 'p.yaml'), 'jwt: { keyDirectory: keys }\n')

    const good = await inspect(signedBy(ours, { kid: 'b' }))
    const forged = await inspect(signedBy(theirs, { kid: 'b' }))

    expect(good).toMatchObject({ key: { kid: 'b', alg: 'EdDSA' }, verdict: 'good' })
    expect(forged).toMatchObject({ key: null, verdict: 'not ours' })
  })

  async function inspect(token: string) {
    const argv = ['token', 'inspect', '-', '--config', 'p.yaml', '--output', 'json']
    const { out } = await runCommand(argv, { cwd, stdin: token })
    return JSON.parse(out)
  }
})
