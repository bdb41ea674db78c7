import { expect, test } from 'vitest'
import { createRequestId } from '../../src/gateway/arrival/request-id.ts'

test('every request has a random UUID of its own', () => {
  const ids = Array.from({ length: 1000 }, createRequestId)

  expect(new Set(ids).size).toBe(1000)
  const version4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
  expect(ids.filter((id) => !version4.test(id))).toEqual([])
})

test('every digit that may be random is', () => {
  const ids = Array.from({ length: 1000 }, createRequestId)

  const seen = Array.from({ length: 36 }, (_, at) => new Set(ids.map((id) => id[at])).size)

  const expected = Array.from('xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx', (sign) =>
    sign === 'x' ? 16 : sign === 'y' ? 4 : 1,
  )
  expect(seen).toEqual(expected)
})
