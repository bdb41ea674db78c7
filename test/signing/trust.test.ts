import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  createStatement,
  formatStatement,
  maxSignatures,
  maxStatement,
  parseStatement,
  readSigned,
  type Signed,
} from '../../src/signing/statement.ts'
import {
  documentMismatch,
  findAmong,
  isRejection,
  signersOf,
  staleness,
  type Trust,
  verifySigned,
} from '../../src/signing/trust.ts'
import { person, sample, signedBy, trusting } from './key-pairs.ts'

const [alice, bob, mallory] = [person('alice'), person('bob'), person('mallory')]
const two = trusting([alice, bob], 2)

function verdict(signed: Parameters<typeof verifySigned>[0], trust: Trust = two) {
  const result = verifySigned(signed, 'live', trust)
  return isRejection(result) ? `${result.rejection}: ${result.message}` : result.signers.join(' ')
}

describe('a signed statement', () => {
  test('counts when enough trusted keys signed it', () => {
    expect(verdict(signedBy([bob, alice]))).toBe('alice bob')
    expect(verdict(signedBy([bob]), trusting([alice, bob]))).toBe('bob')
    expect(verdict(signedBy([mallory, alice, bob, mallory]))).toBe('alice bob')
  })

  test.each([
    ['absent', undefined, 'unsigned: not signed: policy.trust requires 2 signatures'],
    ['without signatures', signedBy([]), 'unsigned: 0 of 2 signatures'],
    ['by too few', signedBy([alice]), 'under-signed: 1 of 2 signatures (alice)'],
    ['by one key twice', signedBy([alice, alice]), 'under-signed: 1 of 2 signatures (alice)'],
    [
      'for another purpose',
      signedBy([alice, bob], { purpose: 'shadow' }),
      'wrong-purpose: signed for shadow, not for live',
    ],
    [
      'with signatures for another purpose',
      signedBy([alice, bob], {}, 'shadow'),
      'wrong-purpose: 0 of 2 signatures; 2 made for another purpose',
    ],
    [
      'of another text',
      { ...signedBy([alice, bob]), statement: signedBy([], { message: 'altered' }).statement },
      'bad-signature: 0 of 2 signatures; 2 not valid',
    ],
    [
      'damaged',
      { statement: '{}', signatures: [] },
      'malformed: its signed statement is malformed',
    ],
  ])('is refused when it is %s', (_, signed, reason) => {
    expect(verdict(signed)).toBe(reason)
  })

  test('by a key that is not trusted is refused, and names that key', () => {
    expect(verdict(signedBy([alice, mallory]))).toMatch(
      /^under-signed: 1 of 2 signatures \(alice\); policy\.trust\.keys does not list SHA256:\S+$/,
    )
  })

  test('tells who signed it so far', () => {
    const { trusted, unknown } = signersOf(signedBy([mallory, bob]), 'live', two)

    expect(trusted.map(({ name }) => name)).toEqual(['bob'])
    expect(unknown).toEqual([{ id: mallory.id }])
  })

  test('signed by one key in two texts counts once', () => {
    const [first = ''] = signedBy([alice]).signatures
    const [spaced = ''] = [first.replaceAll('\n', '\n\n')]
    const { statement } = signedBy([])

    expect(verdict({ statement, signatures: [first, spaced] })).toMatch(/^under-signed: 1 of 2/)
  })
})

describe('a statement', () => {
  test('is read in the one form in which it is written', () => {
    const text = formatStatement({ ...sample, after: { revision: sample.revision, serial: 999 } })
    expect(parseStatement(text)).toMatchObject({ serial: 1000, after: { serial: 999 } })

    const reordered = JSON.stringify(Object.fromEntries(Object.entries(sample).toReversed()))
    const twice = text.replace('"serial":1000', '"serial":1000,"serial":1000')
    for (const other of [reordered, twice, ` ${text}`, text.slice(0, -1), `${text}{}`]) {
      expect(parseStatement(other)).toBeUndefined()
    }
  })

  test.each([
    ['version', 2],
    ['purpose', 'both'],
    ['revision', 'r-../../x'],
    ['document', 'ab'],
    ['after', 1],
    ['after', { revision: sample.revision }],
    ['serial', 1.5],
    ['serial', -1],
    ['serial', Number.MAX_SAFE_INTEGER],
    ['serial', '1000'],
    ['author', null],
    ['message', 'x'.repeat(maxStatement)],
  ])('with another %s is not read: %j', (name, value) => {
    expect(parseStatement(JSON.stringify({ ...sample, [name]: value }))).toBeUndefined()
  })

  test('never throws, whatever is stored', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), (value, text) => {
        expect(parseStatement(JSON.stringify(value))).toBeUndefined()
        expect(parseStatement(text)).toBeUndefined()
        const signed = readSigned(value)
        expect(signed === undefined || signed.statement === '' || 'signatures' in signed).toBe(true)
        expect(isRejection(verifySigned(signed, 'live', two))).toBe(true)
      }),
    )
  })

  test('that is too large, or has too many signatures, counts as malformed', () => {
    const signed = signedBy([alice, bob])
    const many = Array.from({ length: maxSignatures + 1 }, () => signed.signatures[0])

    expect(verdict(readSigned({ ...signed, signatures: many }))).toMatch(/^malformed/)
    expect(verdict(readSigned({ ...signed, signatures: [1] }))).toMatch(/^malformed/)
    expect(verdict(readSigned({ ...signed, statement: 'x'.repeat(maxStatement + 1) }))).toMatch(
      /^malformed/,
    )
    expect(verdict(readSigned({ ...signed, other: 1 }))).toBe('alice bob')
    expect(readSigned(undefined)).toBeUndefined()
  })
})

describe('a statement for another document', () => {
  test('is refused', () => {
    const found = { revision: sample.revision, checksum: sample.document }
    expect(documentMismatch(sample, found)).toBeUndefined()
    expect(documentMismatch(sample, { ...found, revision: 'r-ffffffffffff' })).toMatchObject({
      rejection: 'wrong-document',
    })
    expect(documentMismatch(sample, { ...found, checksum: 'cd'.repeat(32) })).toMatchObject({
      rejection: 'wrong-document',
    })
  })
})

describe('the order of statements', () => {
  const known = { revision: 'r-aaaaaaaaaaaa', serial: 500 }
  const people = [person('alice'), person('bob')]
  /** A signed statement in between, by these people. */
  const between = (serial: number, after: typeof known | null, by = people) =>
    signedBy(by, { ...sample, revision: 'r-bbbbbbbbbbbb', serial, after })
  const next = (serial: number, after: typeof known | null, stored: readonly Signed[] = []) =>
    staleness({ ...sample, serial, after }, known, findAmong(stored, trusting(people, 2)))?.message

  test('is that of their serials', () => {
    expect(next(501, known)).toBeUndefined()
    expect(next(500, known)).toMatch(/was signed before r-aaaaaaaaaaaa, the active one/)
    expect(next(499, { ...known, serial: 498 })).toMatch(/was signed before/)
  })

  test('requires that the signers saw the known one', () => {
    const uses = 'this gateway uses r-aaaaaaaaaaaa'
    expect(next(600, null)).toBe(`${sample.revision} was signed over nothing, ${uses}`)
    expect(next(600, { revision: 'r-bbbbbbbbbbbb', serial: 499 })).toBe(
      `${sample.revision} was signed over r-bbbbbbbbbbbb, ${uses}`,
    )
    expect(next(600, { revision: 'r-bbbbbbbbbbbb', serial: 500 })).toMatch(/over r-bbbbbbbbbbbb/)
  })

  test('accepts a successor of what this gateway missed, if all in between was signed', () => {
    const missed = { revision: 'r-bbbbbbbbbbbb', serial: 550 }
    const earlier = { revision: 'r-bbbbbbbbbbbb', serial: 520 }
    expect(next(600, missed, [between(550, known)])).toBeUndefined()
    expect(next(600, missed, [between(550, earlier), between(520, known)])).toBeUndefined()
    const unknown = (serial: number) =>
      `${sample.revision} descends from r-bbbbbbbbbbbb with serial ${serial}, for which no signatures were found; this gateway uses r-aaaaaaaaaaaa`
    expect(next(600, missed)).toBe(unknown(550))
    expect(next(600, missed, [between(550, known, people.slice(0, 1))])).toBe(unknown(550))
    expect(next(600, missed, [between(551, known)])).toBe(unknown(550))
    expect(next(600, missed, [between(550, earlier)])).toBe(unknown(520))
    // Statements that follow themselves, or each other, lead nowhere.
    expect(next(600, missed, [between(550, missed)])).toBe(unknown(550))
    expect(next(600, { ...missed, serial: 600 }, [between(600, known)])).toBe(unknown(600))
  })

  test('refuses what descends from a sibling of the known one', () => {
    const sibling = { revision: 'r-bbbbbbbbbbbb', serial: 550 }
    const root = { revision: 'r-cccccccccccc', serial: 400 }
    expect(next(600, sibling, [between(550, root)])).toMatch(/over r-b+, this gateway uses r-a+/)
    expect(next(600, sibling, [between(550, null)])).toMatch(/over r-b+, this gateway uses r-a+/)
  })

  test('goes on after a clock that ran ahead', () => {
    const { purpose, author, message } = sample
    const document = { revision: sample.revision, checksum: sample.document }
    const created = (after: typeof known | null, text = message) =>
      createStatement({ purpose, author, message: text, document, after, now: new Date(1000) })

    expect(parseStatement(created(null) ?? '')).toMatchObject({ serial: 1000, after: null })
    expect(parseStatement(created({ ...known, serial: 5000 }) ?? '')).toMatchObject({
      serial: 5001,
    })
    expect(created(null, 'x'.repeat(maxStatement))).toBeUndefined()
  })
})
