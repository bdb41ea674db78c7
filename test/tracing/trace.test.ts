import { describe, expect, test } from 'vitest'
import { findSpans } from '../../src/tracing/find-spans.ts'
import { formatTrace, newSpanId, readTrace } from '../../src/tracing/trace.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const spanId = 'b7ad6b7169203331'
const whole = `00-${traceId}-${spanId}-01`

describe('traceparent', () => {
  test.each([
    ['sampled', '01', 1],
    ['not sampled', '00', 0],
    ['with a random trace ID', '03', 3],
    ['with flags that nobody knows yet', 'fd', 1],
  ])('is read %s', (_, text, flags) => {
    const read = readTrace(`00-${traceId}-${spanId}-${text}`, undefined)

    expect(read).toEqual({ traceId, spanId, flags, state: undefined })
  })

  test.each([
    ['as long as version 00', `cc-${traceId}-${spanId}-01`],
    ['with something more', `cc-${traceId}-${spanId}-01-what-the-future-brings`],
  ])('of a later version is read as far as it is known, %s', (_, text) => {
    expect(readTrace(text, undefined)).toMatchObject({ traceId, spanId, flags: 1 })
  })

  test.each([
    ['is empty', ''],
    ['is in capitals', whole.toUpperCase()],
    ['has no trace ID', `00-${'0'.repeat(32)}-${spanId}-01`],
    ['has no parent ID', `00-${traceId}-${'0'.repeat(16)}-01`],
    ['has the forbidden version', `ff-${traceId}-${spanId}-01`],
    ['has more than version 00 may', `${whole}-more`],
    ['has a later version with no hyphen behind the flags', `cc-${traceId}-${spanId}-01.more`],
    ['has a short trace ID', `00-${traceId.slice(1)}-${spanId}-01`],
    ['has flags of one digit', `00-${traceId}-${spanId}-1`],
    ['stands there twice', `${whole},${whole}`],
    ['has blanks around it', ` ${whole}`],
    ['has other digits', `00-${traceId.replace('a', 'g')}-${spanId}-01`],
    ['is endless', `cc-${traceId}-${spanId}-01-${'x'.repeat(5000)}`],
  ])('that %s is none', (_, text) => {
    expect(readTrace(text, 'vendor=1')).toBe(undefined)
  })

  test('is written as it was read', () => {
    expect(formatTrace({ traceId, spanId, flags: 1, state: undefined })).toBe(whole)
  })
})

describe('tracestate', () => {
  const stateOf = (text: string) => readTrace(whole, text)?.state

  test.each([
    ['one member', 'rojo=00f067aa0ba902b7', 'rojo=00f067aa0ba902b7'],
    ['a tenant', 'fw529a3039@dt=FfAxxA==', undefined],
    ['a tenant with a plain value', 'fw529a3039@dt=FfAxxA', 'fw529a3039@dt=FfAxxA'],
    ['blanks and empty members', ' a=1 ,, b=2\t', 'a=1,b=2'],
    ['32 members', listOf(32), listOf(32)],
    ['33 members', listOf(33), undefined],
    ['a capital in a key', 'Rojo=1', undefined],
    ['no value', 'rojo', undefined],
    ['a control character', 'rojo=1\u00012', undefined],
    ['nothing', '', undefined],
  ])('with %s is passed on or dropped as a whole', (_, text, read) => {
    expect(stateOf(text)).toBe(read)
  })

  test('that is too long loses its long members first, then its last ones', () => {
    const long = `long=${'x'.repeat(200)}`
    const short = Array.from({ length: 12 }, (_, at) => `short${at}=${'y'.repeat(40)}`)

    const kept = stateOf([long, ...short].join(','))?.split(',')

    expect(kept).toEqual(short.slice(0, kept?.length))
    expect(kept?.length).toBeGreaterThan(8)
    expect(kept?.join(',').length).toBeLessThanOrEqual(512)
  })
})

test('span IDs have the form of one and differ, over more than one pool of them', () => {
  const ids = Array.from({ length: 2000 }, newSpanId)

  expect(ids.every((id) => /^[\da-f]{16}$/.test(id))).toBe(true)
  expect(new Set(ids).size).toBe(2000)
})

function listOf(count: number): string {
  return Array.from({ length: count }, (_, at) => `m${at}=1`).join(',')
}

test('without an SDK there are no spans', async () => {
  expect(await findSpans('0.0.0')).toBe(undefined)
})
