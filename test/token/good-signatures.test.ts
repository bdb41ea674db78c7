import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { createGoodSignatures } from '../../src/token/good-signatures.ts'

describe('what is remembered of a good signature', () => {
  test('is found by the whole token and by nothing else', () => {
    const signatures = createGoodSignatures<{ readonly of: string }>()
    signatures.keep('a.b.c', { of: 'one' })
    signatures.keep('a.b.d', { of: 'other' })

    expect(signatures.find('a.b.c')).toEqual({ of: 'one' })
    expect(signatures.find('a.b.d')).toEqual({ of: 'other' })
    for (const token of ['a.b.', 'a.b.c ', 'A.b.c', '', 'a.b.cd', 'digest']) {
      expect(signatures.find(token)).toBeUndefined()
    }
  })

  test('is kept of 10,000, of which those that were asked for last', () => {
    const signatures = createGoodSignatures<{ readonly at: number }>()
    for (let at = 0; at < 10_000; at++) signatures.keep(`token-${at}`, { at })
    expect(signatures.find('token-0')).toEqual({ at: 0 })
    for (let at = 10_000; at < 15_000; at++) signatures.keep(`token-${at}`, { at })

    expect(signatures.find('token-0')).toEqual({ at: 0 })
    expect(signatures.find('token-1')).toBeUndefined()
    expect(signatures.find('token-14999')).toEqual({ at: 14_999 })
  })

  test('has the text of a token for as long as it is in use', () => {
    const script = new URL('tokens-in-memory.ts', import.meta.url).pathname
    const said = execFileSync(process.execPath, ['--expose-gc', script], { encoding: 'utf8' })

    expect(JSON.parse(said)).toEqual({
      'at first': false,
      'in use': true,
      'found again': true,
      later: false,
      'later again': false,
    })
  })
})
