import { fill } from '../../../kernel/fill.ts'
import { packagedText } from './packaged.ts'
import type { GeneratedFile } from './template.ts'

interface PolicyTexts {
  readonly rules: URL
  readonly tests: URL
}

/** A policy directory with one rule and what must hold of it. */
export function policyFiles(role: string, { rules, tests }: PolicyTexts): readonly GeneratedFile[] {
  const exclusions = new URL('./files/exclusions.yaml', import.meta.url)
  const allRules = new URL('./files/policy.csv', import.meta.url)
  const allTests = new URL('./files/policy_test.yaml', import.meta.url)
  return [
    { name: 'policies/model.conf', text: packagedText('policies/model.conf') },
    { name: 'policies/exclusions.yaml', text: fill(exclusions) },
    { name: 'policies/policy.csv', text: fill(allRules, { rules: fill(rules, { role }) }) },
    {
      name: 'policies/tests/policy_test.yaml',
      text: fill(allTests, { tests: fill(tests, { role }) }),
    },
  ]
}

/** The policy of a new application: one role reads everything. */
export function readerPolicy(role: string): readonly GeneratedFile[] {
  return policyFiles(role, {
    rules: new URL('./files/reader.csv', import.meta.url),
    tests: new URL('./files/reader_test.yaml', import.meta.url),
  })
}
