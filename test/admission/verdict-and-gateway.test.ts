import { describe, test } from 'vitest'
import { compareWithGateway, comparisons } from '../support/verdict-comparison.ts'

describe('the verdict of the commands', () => {
  test.each(comparisons(6, 30, 16))(
    'is what the gateway does, configuration $at',
    compareWithGateway,
  )
})
