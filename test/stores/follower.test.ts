import { expect, onTestFinished, test } from 'vitest'
import { createFollower } from '../../src/stores/policies/follow/follower.ts'
import { until } from '../support/until.ts'

/** test/long/follower.test.ts has the same on real tables. */
test('a follower reads the rows only when they changed, and publishes no empty table', async () => {
  const clerk = { ptype: 'p', values: ['clerk', '/api/v1/dept', 'GET'], place: 'row 1' }
  let rows = [clerk]
  let [reads, looks] = [0, 0]
  const published: number[] = []
  const follower = createFollower({
    table: {
      async fingerprint() {
        looks++
        return String(rows.length)
      },
      async rows() {
        reads++
        return rows
      },
    },
    async publish() {
      published.push(rows.length)
      return { revision: 'r-1', added: 1, removed: 0 }
    },
    log: { info() {}, warn() {} },
    everyMs: 5,
    settleMs: 1,
  })
  onTestFinished(() => follower.close())
  await follower.start()
  await until(() => looks > 10)
  expect(reads).toBe(1)

  rows = []
  await until(() => follower.state().stopped?.includes('has no rows') === true)
  rows = [clerk, { ...clerk, values: ['clerk', '/api/v1/post', 'GET'] }]
  await until(() => follower.state().stopped === undefined)
  expect(published).toEqual([1, 2])
})
