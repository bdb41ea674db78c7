import { expect, onTestFinished } from 'vitest'
import { documentedPages, missingPrograms, runDocumentedPage } from './documented-pages.ts'

/** Runs the commands of a page and expects each to print what the page shows. */
export async function checkPage(name: string): Promise<void> {
  const missing = missingPrograms(name)
  if (missing.length > 0) {
    console.warn(`skipped: ${name} needs ${missing.join(', ')}`)
    return
  }
  const page = await runDocumentedPage(name)
  onTestFinished(() => page.close())

  expect(page.differences).toEqual([])
  expect(page.count).toBeGreaterThanOrEqual(documentedPages[name]?.commands ?? 1)
}

/** Pages that test/long/docs-policies.test.ts runs. */
export function isAboutPolicies(page: string): boolean {
  return /polic(?:y|ies)|gitops/.test(page)
}

/** The guides. Tutorials have tests of their own, for what they tell readers to do by hand. */
export const guides = Object.keys(documentedPages).filter(
  (page) => !page.includes('tutorial') && !isAboutPolicies(page),
)
