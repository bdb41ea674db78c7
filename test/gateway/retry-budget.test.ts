import { describe, expect, test } from 'vitest'
import { createRetryBudget } from '../../src/gateway/upstream/retry-budget.ts'

function takeAll({ take }: ReturnType<typeof createRetryBudget>): number {
  let taken = 0
  while (take()) taken++
  return taken
}

describe('a budget for retries', () => {
  test('starts with a few', () => {
    expect(takeAll(createRetryBudget({ least: 3 }))).toBe(3)
  })

  test('grows by a share of what is sent, so that retries cannot multiply the load', () => {
    const budget = createRetryBudget({ share: 0.25, least: 1 })
    takeAll(budget)
    for (let sent = 0; sent < 40; sent++) budget.sent()

    expect(takeAll(budget)).toBe(10)
  })

  test('does not save up without bound in good times', () => {
    const budget = createRetryBudget({ share: 0.2, least: 10 })
    for (let sent = 0; sent < 100_000; sent++) budget.sent()

    expect(takeAll(budget)).toBe(30)
  })
})
