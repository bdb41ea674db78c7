import { describe, test } from 'vitest'
import { compareWithGateway, comparisons } from '../support/verdict-comparison.ts'

// Another seed for each run; a failure names the whole configuration.
describe('the verdict of the commands', () => {
  test.each(comparisons(40, 60, Date.now() % 1_000_000))(
    'is what the gateway does, random configuration $at',
    compareWithGateway,
  )
})
