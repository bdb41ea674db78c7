import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readLine, readOwnLine } from '../../src/replay/record.ts'
import { recordOf } from './records.ts'

const fast = (line: string) => readOwnLine(`${line}\n`, 0, line.length)

describe('a line of the decision log', () => {
  test('is read without JSON.parse as a gateway writes it', () => {
    const read = fast(JSON.stringify(recordOf()))

    expect(read).toEqual({
      at: '2026-11-15T07:49:53.558Z',
      requestId: 'q-1',
      revision: 'r-d47a8140bd98f787fd65893cdbd39e7b',
      userId: '7',
      roleKey: 'clerk',
      host: undefined,
      method: 'GET',
      path: '/orders/7',
      result: 'allow',
      step: 'rule',
      rule: { file: 'policy.csv', line: 12 },
    })
  })

  test.each<[string, Readonly<Record<string, unknown>>]>([
    ['of a caller who is not identified', { subject: undefined, revision: undefined }],
    ['of forward-auth', { contract: 'envoy' }],
    ['with a host', { host: 'api.example.com' }],
    ['with a trace', { trace_id: '0af7', span_id: '1532' }],
    ['with omitted user ID and path', { subject: { role_key: 'clerk' }, path: undefined }],
    ['without rule', { rule: undefined, step: 'none', result: 'deny', reason: 'no-rule' }],
    ['with a shadow', { shadow: { revision: 'r-2', result: 'allow' } }],
    [
      'with a shadow and its rule',
      { shadow: { revision: 'r-2', result: 'deny', rule: { file: 'more.csv', line: 3 } } },
    ],
  ])('is read the same way %s', (_, changes) => {
    const line = JSON.stringify(recordOf(changes))

    expect(fast(line)).toEqual(readLine(line))
    expect(fast(line)).toBeDefined()
  })

  test('is the same for the pattern and for JSON.parse, whatever it contains', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.constantFrom('"', '\\', '","result":"deny', '\u007f', '/a"}', 'é', '{', '}'),
      fc.string({ maxLength: 12 }),
    )
    const optional = fc.option(text, { nil: undefined })
    const field = <Value>(name: string, values: fc.Arbitrary<Value>) =>
      fc.tuple(fc.constant(name), values)
    const times = ['2026-11-15T07:49:53Z', '2026-99-15T07:49:53.558Z', 'yesterday']
    const numbers = fc.oneof(fc.integer(), fc.double(), fc.constantFrom(undefined, 2 ** 31, 0))
    const changes = fc.array(
      fc.oneof(
        field('timestamp', fc.constantFrom(...times)),
        ...['request_id', 'revision', 'host', 'method', 'path', 'step', 'reason', 'more'].map(
          (name) => field(name, optional),
        ),
        field('subject', fc.option(fc.record({ user_id: optional, role_key: text }))),
        field('result', fc.constantFrom('allow', 'deny', 'maybe')),
        field('rule', fc.record({ file: text, line: numbers })),
        field('duration_us', numbers),
        field('labels', fc.record({ pod: text, version: text })),
        field('shadow', fc.record({ revision: text, result: text, rule: fc.anything() })),
        field('trace_id', optional),
        field('contract', optional),
        field('msg', fc.constantFrom('decision', 'request')),
      ),
      { maxLength: 3 },
    )
    let matched = 0
    fc.assert(
      fc.property(changes, fc.boolean(), (changed, asBytes) => {
        const json = JSON.stringify(recordOf(Object.fromEntries(changed)))
        const line = asBytes ? Buffer.from(json).toString('latin1') : json
        const read = fast(line)
        if (read === undefined) return
        matched++
        expect(read).toEqual(readLine(line))
      }),
      { numRuns: 3000 },
    )
    expect(matched).toBeGreaterThan(100)
  })

  test('is never read by the pattern after a byte was changed, unless JSON.parse reads the same', () => {
    const line = JSON.stringify(recordOf())
    fc.assert(
      fc.property(
        fc.nat(line.length),
        fc.nat(2),
        fc.constantFrom('', '"', ',', '0', '\\', '}', '{', ' ', '\t', '\u0000', 'x', '\n', '\r'),
        (at, cut, piece) => {
          const edited = line.slice(0, at) + piece + line.slice(at + cut)
          const read = fast(edited)
          if (read !== undefined) expect(read).toEqual(readLine(edited))
        },
      ),
      { numRuns: 5000 },
    )
  })

  test('may have its keys in any order, and more of them', () => {
    const { path, ...others } = recordOf()
    const shipped = { '@timestamp': 1, kubernetes: { pod: 'x', path: '/no' }, path, ...others }

    expect(readLine(JSON.stringify(shipped))).toEqual(readLine(JSON.stringify(recordOf())))
  })

  test('has its time in UTC', () => {
    const line = JSON.stringify(recordOf({ timestamp: '2026-11-15T09:49:53.558+02:00' }))

    expect(readLine(line)).toMatchObject({ at: '2026-11-15T07:49:53.558Z' })
  })

  test.each([
    ['{"level":"info","msg":"request","result":"allow"}', 'other'],
    ['not json', { damage: 'not JSON' }],
    ['[1]', { damage: 'not a JSON object' }],
    ['null', { damage: 'not a JSON object' }],
    [
      '{"msg":"decision","method":"GET","step":"rule"}',
      { damage: 'a decision whose result is neither allow nor deny' },
    ],
    [
      '{"msg":"decision","method":1,"step":"rule","result":"deny"}',
      { damage: 'a decision without method' },
    ],
    ['{"msg":"decision","method":"GET","result":"deny"}', { damage: 'a decision without step' }],
  ])('%s is not a decision', (line, found) => {
    expect(readLine(line)).toEqual(found)
  })
})
