import { expect, test } from 'vitest'
import { createClosing } from '../src/kernel/closing.ts'
import { createClean, createDescribeError } from '../src/serve/describe-error.ts'

test('parts are closed in reverse, also those after one that cannot be closed, and then it throws', async () => {
  const closing = createClosing()
  const closed: string[] = []
  closing.add(async () => closed.push('store'))
  closing.add(async () => {
    throw new Error('stuck')
  })
  closing.add(async () => closed.push('server'))

  await expect(closing.close()).rejects.toThrow('stuck')
  expect(closed).toEqual(['server', 'store'])
})

const hostile = new Proxy(new Error('x'), {
  get() {
    throw new Error('no')
  },
})

test.each([
  ['a text', 'plain', { type: 'string', message: 'plain' }],
  ['nothing', undefined, { type: 'undefined', message: 'undefined' }],
  ['what has no text', Object.create(null), { type: 'unknown' }],
  ['an error that cannot be read', hostile, { type: 'unknown' }],
  ['an error with a cause', new Error('a', { cause: new Error('sec') }), { cause: '[redacted]' }],
])('an error text describes %s', (_, thrown, expected) => {
  expect(createDescribeError(createClean(['sec']))(thrown)).toMatchObject(expected)
})
