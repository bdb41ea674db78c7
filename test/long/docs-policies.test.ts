import { describe, test } from 'vitest'
import { checkPage, isAboutPolicies } from '../support/check-page.ts'
import { documentedPages } from '../support/documented-pages.ts'

const pages = Object.keys(documentedPages).filter(isAboutPolicies)

describe('every command prints what the page shows', () => {
  test.each(pages)('%s', { timeout: 900_000 }, checkPage)
})
