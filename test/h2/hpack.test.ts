import { expect, test } from 'vitest'
import { ConnectionError } from '../../src/h2/error-codes.ts'
import { Decoder } from '../../src/h2/hpack/decoder.ts'
import { Encoder } from '../../src/h2/hpack/encoder.ts'
import { decodeHuffman } from '../../src/h2/hpack/huffman.ts'
import { staticFields } from '../../src/h2/hpack/static-table.ts'
import { integer } from './raw-peer.ts'

const limits = { headerBytes: 65_536, headerCount: 1000 }

function bytes(hex: string): Buffer {
  return Buffer.from(hex.replaceAll(' ', ''), 'hex')
}

function decode(decoder: Decoder, block: Buffer): string[] {
  return decoder.decode(block).fields.flatMap(({ name, value }) => [name, value])
}

/** A size update to 256 bytes first, as RFC 7541 C.5 and C.6 assume. */
const smallTable = bytes('3fe101')

const request = [':method', 'GET', ':scheme', 'http', ':path', '/', ':authority', 'www.example.com']
const secure = [
  ...[':method', 'GET', ':scheme', 'https', ':path', '/index.html'],
  ...[':authority', 'www.example.com', 'custom-key', 'custom-value'],
]
const date = 'Mon, 21 Oct 2013 20:13:21 GMT'
const location = 'https://www.example.com'
const response = (status: string, when = date): string[] => [
  ...[':status', status, 'cache-control', 'private', 'date', when, 'location', location],
]
const cookie = 'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1'
const later = 'Mon, 21 Oct 2013 20:13:22 GMT'
const lastResponse = [
  ...[':status', '200', 'cache-control', 'private', 'date', later, 'location', location],
  ...['content-encoding', 'gzip', 'set-cookie', cookie],
]
const sorted = (fields: readonly string[]): string[] =>
  fields.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${fields[at + 1]}`] : [])).sort()

test.each<[string, readonly (readonly [hex: string, fields: readonly string[]])[]]>([
  [
    'C.2.1',
    [
      [
        '400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572',
        ['custom-key', 'custom-header'],
      ],
    ],
  ],
  ['C.2.2', [['040c 2f73 616d 706c 652f 7061 7468', [':path', '/sample/path']]]],
  ['C.2.3', [['1008 7061 7373 776f 7264 0673 6563 7265 74', ['password', 'secret']]]],
  ['C.2.4', [['82', [':method', 'GET']]]],
  [
    'C.3',
    [
      ['8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d', request],
      ['8286 84be 5808 6e6f 2d63 6163 6865', [...request, 'cache-control', 'no-cache']],
      ['8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65', secure],
    ],
  ],
  [
    'C.4',
    [
      ['8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff', request],
      ['8286 84be 5886 a8eb 1064 9cbf', [...request, 'cache-control', 'no-cache']],
      ['8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf', secure],
    ],
  ],
  [
    'C.5',
    [
      [
        '4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
        response('302'),
      ],
      ['4803 3330 37c1 c0bf', response('307')],
      [
        '88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31',
        lastResponse,
      ],
    ],
  ],
  [
    'C.6',
    [
      [
        '4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3',
        response('302'),
      ],
      ['4883 640e ffc1 c0bf', response('307')],
      [
        '88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07',
        lastResponse,
      ],
    ],
  ],
])('the examples of RFC 7541 %s', (section, blocks) => {
  const decoder = new Decoder(limits)
  if (section === 'C.5' || section === 'C.6') decoder.decode(smallTable)
  for (const [hex, fields] of blocks) {
    expect(sorted(decode(decoder, bytes(hex)))).toEqual(sorted(fields))
  }
})

test('every byte has its Huffman code, those that no header may have as well', () => {
  const code = new Map<number, [code: number, length: number]>([
    [0x00, [0x1ff8, 13]],
    [0x01, [0x7fffd8, 23]],
    [0x09, [0xffffea, 24]],
    [0x0a, [0x3ffffffc, 30]],
    [0x0d, [0x3ffffffd, 30]],
    [0x16, [0x3ffffffe, 30]],
    [0x0b, [0xfffffe9, 28]],
    [0x0c, [0xfffffea, 28]],
    [0x7f, [0xffffffc, 28]],
  ])
  for (let byte = 0x02; byte <= 0x08; byte++) code.set(byte, [0xfffffe2 + byte - 2, 28])
  for (let byte = 0x0e; byte <= 0x15; byte++) code.set(byte, [0xfffffeb + byte - 0x0e, 28])
  for (let byte = 0x17; byte <= 0x1f; byte++) code.set(byte, [0xffffff3 + byte - 0x17, 28])
  for (const [byte, [bits, length]] of code) {
    const text = bits.toString(2).padStart(length, '0')
    const whole = text.padEnd(Math.ceil(length / 8) * 8, '1')
    const encoded = Buffer.from(
      Array.from({ length: whole.length / 8 }, (_, at) =>
        Number.parseInt(whole.slice(at * 8, at * 8 + 8), 2),
      ),
    )
    expect(decodeHuffman(encoded, 0, encoded.length)).toBe(String.fromCharCode(byte))
  }
})

test.each([
  ['the end-of-string code', 'ffffffff'],
  ['padding of zeros', 'f0'],
  ['padding of eight bits', '1fff'],
  ['an incomplete code', 'fffe'],
])('a Huffman string with %s is refused', (_, hex) => {
  const encoded = bytes(hex)
  expect(() => decodeHuffman(encoded, 0, encoded.length)).toThrow(ConnectionError)
})

test.each([
  ['index 0', '80'],
  ['an index outside the tables', 'be'],
  ['an index far outside', 'ffffffff07'],
  ['a name outside the tables', '7f00 0161'],
  ['an integer without end', 'ffffffffffffffffffff'],
  ['an integer that would wrap', 'ff80808080808080808001'],
  ['an integer of one byte too few', 'ff'],
  ['a name without a value', '0001 61'],
  ['a string that is longer than its block', '0001 6105 62'],
  ['a string of 256 MiB', '0001 617f ffff ff7f'],
  ['a block that ends after its first byte', '40'],
  ['a size update after a field', '8220'],
  ['a size update above ours', '3fe21f'],
  ['a size update that ends', '3f'],
])('a block with %s is refused', (_, hex) => {
  expect(() => new Decoder(limits).decode(bytes(hex))).toThrow(ConnectionError)
})

test('every cut of a good block is refused or read as fewer fields, never as others', () => {
  const block = new Encoder().encode(['a', 'b', 'cookie', 'x'.repeat(300), 'date', date])
  const whole = decode(new Decoder(limits), block)
  for (let length = 0; length < block.length; length++) {
    try {
      const fields = decode(new Decoder(limits), block.subarray(0, length))
      expect(whole.slice(0, fields.length)).toEqual(fields)
    } catch (error) {
      expect(error).toBeInstanceOf(ConnectionError)
    }
  }
})

test('a bomb of references is answered as too large, and leaves the table in order', () => {
  const decoder = new Decoder({ headerBytes: 16_384, headerCount: 100 })
  const value = 'v'.repeat(4000)
  const literal = Buffer.concat([bytes('4001 78'), integer(0x7f, value.length), Buffer.from(value)])
  const { fields, tooLarge } = decoder.decode(Buffer.concat([literal, Buffer.alloc(60_000, 0xbe)]))
  expect(tooLarge).toBe(true)
  expect(fields.length).toBeLessThan(5)
  expect(decode(decoder, bytes('be'))).toEqual(['x', value])
})

test('more fields than allowed are too large, however small', () => {
  const decoder = new Decoder({ headerBytes: 1_000_000, headerCount: 100 })
  expect(decoder.decode(Buffer.alloc(100, 0x82)).tooLarge).toBe(false)
  expect(decoder.decode(Buffer.alloc(101, 0x82)).tooLarge).toBe(true)
})

test('entries without name and value fill the table to its brim', () => {
  const decoder = new Decoder(limits)
  // 129 entries of 32 bytes; 128 of them fit.
  const empty = Buffer.concat(Array.from({ length: 129 }, () => bytes('40 00 00')))
  expect(() => decoder.decode(empty)).not.toThrow()
  expect(() =>
    decoder.decode(Buffer.concat([bytes('ff'), integer(0x7f, 62 + 127).subarray(1)])),
  ).not.toThrow()
  expect(() =>
    decoder.decode(Buffer.concat([bytes('ff'), integer(0x7f, 62 + 128).subarray(1)])),
  ).toThrow()
})

test('an entry that is larger than the table empties it', () => {
  const decoder = new Decoder(limits)
  decoder.decode(bytes('4001 6101 62'))
  const long = Buffer.concat([bytes('4001 78'), integer(0x7f, 4096), Buffer.alloc(4096, 0x61)])
  expect(decoder.decode(long).fields).toHaveLength(1)
  expect(() => decoder.decode(bytes('be'))).toThrow(ConnectionError)
})

test('secrets are never indexed, and no table remembers them', () => {
  const encoder = new Encoder()
  for (const name of ['authorization', 'cookie', 'set-cookie', 'proxy-authorization']) {
    const at = staticFields.findIndex(([known]) => known === name) + 1
    for (let round = 0; round < 2; round++) {
      const block = encoder.encode([name, 'secret'])
      expect((block[0] as number) & 0xf0).toBe(0x10)
      expect(decode(new Decoder(limits), block)).toEqual([name, 'secret'])
      expect(block.length).toBeGreaterThan('secret'.length)
    }
    expect(at).toBeGreaterThan(0)
  }
})

/** Deterministic, so that a failure can be repeated. */
function random(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((state / 2 ** 31) * below)
  }
}

test('what we encode is decoded as it was, while the size of the table changes', () => {
  const below = random(7)
  const names = ['x-a', 'x-b', 'accept', 'cookie', ':status', 'date', 'vary', 'x-'.padEnd(80, 'n')]
  const encoder = new Encoder()
  const decoder = new Decoder(limits)
  const sizes = [0, 32, 33, 64, 100, 500, 4095, 4096, 10_000]
  for (let round = 0; round < 2000; round++) {
    for (let changes = below(4) - 1; changes > 0; changes--) {
      encoder.limit(sizes[below(sizes.length)] as number)
    }
    const fields: string[] = []
    for (let count = below(12); count > 0; count--) {
      const value = String.fromCharCode(32 + below(224)).repeat(
        below(3) === 0 ? below(400) : below(9),
      )
      fields.push(names[below(names.length)] as string, value)
    }
    expect(decode(decoder, encoder.encode(fields))).toEqual(fields)
  }
})

test('a table that shrank and grew between blocks is announced as such', () => {
  const encoder = new Encoder()
  encoder.encode(['x-a', '1'])
  encoder.limit(0)
  encoder.limit(4096)
  const block = encoder.encode(['x-a', '1'])
  // 0, then 4096, then the field once more as a literal.
  expect([...block.subarray(0, 5)]).toEqual([0x20, 0x3f, 0xe1, 0x1f, 0x40])
})
