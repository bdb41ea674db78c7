import { describe, expect, onTestFinished, test } from 'vitest'
import { documentedPages, missingPrograms, runDocumentedPage } from '../support/documented-pages.ts'

/** Tutorials have tests of their own, for what they tell readers to do by hand. */
const guides = Object.entries(documentedPages).filter(([page]) => !page.includes('tutorial'))

describe('every command prints what the page shows', () => {
  test.each(guides)('%s', { timeout: 900_000 }, async (name, { commands }) => {
    const missing = missingPrograms(name)
    if (missing.length > 0) {
      console.warn(`skipped: ${name} needs ${missing.join(', ')}`)
      return
    }
    const page = await runDocumentedPage(name)
    onTestFinished(() => page.close())

    expect(page.differences).toEqual([])
    expect(page.count).toBeGreaterThanOrEqual(commands)
  })
})
