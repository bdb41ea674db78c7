import { describe, test } from 'vitest'
import { checkPage, isAboutPolicies } from '../support/check-page.ts'
import { documentedPages } from '../support/documented-pages.ts'

/** Tutorials have tests of their own, for what they tell readers to do by hand. */
const guides = Object.keys(documentedPages).filter(
  (page) => !page.includes('tutorial') && !isAboutPolicies(page),
)

describe('every command prints what the page shows', () => {
  test.each(guides)('%s', { timeout: 900_000 }, checkPage)
})
