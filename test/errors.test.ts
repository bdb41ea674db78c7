import { expect, test } from 'vitest'
import { MalformedMessage } from '../src/h2/message-fields.ts'
import { Fault, Refusal } from '../src/kernel/errors.ts'

test.each([
  ['a refusal', () => new Refusal('not-permitted')],
  ['a fault', () => new Fault('overloaded')],
  ['a malformed message', () => new MalformedMessage('two paths')],
])('%s records no stack trace, which would cost more than the rest of it', (_, create) => {
  const error = create()

  expect(error.stack).toBe(`${error.constructor.name}: ${error.message}`)
})

test('other errors keep their stack trace, also the cause of a fault', () => {
  const cause = new Error('no connection')

  const fault = new Fault('database', { cause })

  expect((fault.cause as Error).stack).toContain('errors.test.ts')
  expect(new Error('later').stack).toContain('errors.test.ts')
})
