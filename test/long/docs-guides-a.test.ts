import { describe, test } from 'vitest'
import { checkPage, guides } from '../support/check-page.ts'

// Half of them, because together they would take as long as all other files that wait for them.
describe('every command prints what the page shows', () => {
  test.each(guides.filter((_, at) => at % 2 === 0))('%s', { timeout: 900_000 }, checkPage)
})
