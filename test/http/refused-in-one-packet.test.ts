import { expect, test } from 'vitest'
import { request, sendRaw } from '../support/raw-client.ts'
import { startPostern } from '../support/start-postern.ts'

/** Nobody's, and all there. */
const chunked = request(
  'POST /api/v1/articles',
  ['Transfer-Encoding: chunked'],
  '3\r\nabc\r\n0\r\n\r\n',
)

test('a refused request whose chunks came with it leaves its connection to the next one', async () => {
  const { publicPort } = await startPostern()

  const { answers, closed } = await sendRaw(publicPort, chunked + chunked, { expected: 2 })

  expect(answers.map((answer) => answer.json())).toMatchObject([{ code: 401 }, { code: 401 }])
  expect(answers.map((answer) => answer.header('connection'))).toEqual(['keep-alive', 'keep-alive'])
  expect(closed).toBe(false)
})

test('one whose chunks are still to come does not', async () => {
  const { publicPort } = await startPostern()

  const { answers, closed } = await sendRaw(publicPort, chunked.slice(0, -5))

  expect(answers.map((answer) => answer.json())).toMatchObject([{ code: 401 }])
  expect(answers[0]?.header('connection')).toBe('close')
  expect(closed).toBe(true)
})
