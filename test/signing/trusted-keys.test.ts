import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readTrust } from '../../src/stores/keys/trusted-keys.ts'
import { person } from './key-pairs.ts'

const [alice, bob] = [person('alice'), person('bob')]
const cwd = mkdtempSync(join(tmpdir(), 'postern-trust-'))
afterAll(() => rmSync(cwd, { recursive: true }))

function problems(keys: readonly string[], signatures = 1): string {
  try {
    return readTrust({ keys, signatures }, cwd)
      .keys.map(({ name }) => name)
      .join(' ')
  } catch (error) {
    return String((error as Error).message)
  }
}

describe('policy.trust.keys', () => {
  test('lists keys inline and in files', () => {
    writeFileSync(join(cwd, 'people'), `# signers\n\n${bob.line}\r\n`)

    expect(problems([alice.line, 'people'], 2)).toBe('alice bob')
  })

  test('has each key once, under one name', () => {
    const renamed = alice.line.replace(/alice$/, 'alice-laptop')
    expect(problems([alice.line, renamed], 2)).toBe(
      'policy.trust.keys[1]: is listed already (policy.trust.keys[0]: alice): list each key once',
    )
    const namesake = bob.line.replace(/bob$/, 'Alice')
    expect(problems([alice.line, namesake])).toBe(
      'policy.trust.keys[1]: has the name of another key (policy.trust.keys[0]: alice): give each key a name of its own',
    )
    writeFileSync(join(cwd, 'twice'), `${alice.line}\n${renamed}\n`)
    expect(problems(['twice'])).toMatch(/^twice:2: is listed already \(twice:1: alice\)/)
  })

  test.each([
    ['no name', [alice.line.replace(/ alice$/, '')], 1, /keys\[0\]: has no name: write the name/],
    ['a name that moves the cursor', [`${alice.line}\u001b[2J`], 1, /control characters/],
    [
      'more signatures than keys',
      [alice.line],
      2,
      /signatures: is 2, but policy.trust.keys has 1: use at most 1/,
    ],
    ['a missing file', ['absent.pub'], 1, /keys\[0\]: absent.pub cannot be read \(ENOENT\)/],
    ['a directory', ['.'], 1, /is not a regular file/],
    ['an RSA key', ['ssh-rsa AAAA bob'], 1, /only ssh-ed25519 is supported/],
  ])('is refused with %s', (_, keys, signatures, message) => {
    expect(problems(keys, signatures)).toMatch(message)
  })

  test('is refused with an empty or very large file', () => {
    writeFileSync(join(cwd, 'empty'), '# no keys\n')
    writeFileSync(join(cwd, 'large'), '#'.repeat(70_000))
    expect(problems(['empty', 'large'])).toMatch(
      /empty contains no keys\n.*large is larger than 64 KiB/,
    )
  })
})
