import { describe, expect, test } from 'vitest'
import { compareWithGateway, comparisons, kindsIn } from '../support/verdict-comparison.ts'

describe('the verdict of the commands', () => {
  const all = comparisons(8, 30, 815)

  test.each(all)('is what the gateway does, configuration $at', compareWithGateway)

  // With fewer kinds, the comparison would prove less than it seems to: choose another seed.
  test('is compared where every kind of verdict occurs', () => {
    expect(kindsIn(all)).toEqual(
      new Set([
        ...['admin', 'exclusion', 'superuser', 'rule', 'none', 'route', 'endpoint'],
        ...['deny rule', 'inherited', 'permitted', 'authenticated', 'public', 'no route'],
        ...['delegated logout', 'delegated profile', 'delegated password'],
        ...['replaced prefix', 'odd spelling'],
        ...['unknown-method', 'method-not-allowed', 'ambiguous-path', 'target-too-long'],
        ...['no-such-endpoint', 'no-such-host', 'hosts', 'methods', 'exact path'],
      ]),
    )
  })
})
