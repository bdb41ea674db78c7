import { expect, onTestFinished, test } from 'vitest'
import { runDocumentedPage } from '../support/documented-pages.ts'

test('docs/tutorial-production.md: every command prints what the page shows', {
  timeout: 900_000,
}, async () => {
  const page = await runDocumentedPage('docs/tutorial-production.md')
  onTestFinished(() => page.close())

  expect(page.differences).toEqual([])
  expect(page.count).toBeGreaterThanOrEqual(31)
})
