import { readFileSync } from 'node:fs'
import type { PolicyFile } from '../../src/policy/set/policy-set.ts'
import { createDocument, type PolicyDocument } from '../../src/stores/policies/policy-store.ts'

const model = readFileSync(new URL('../../policies/model.conf', import.meta.url), 'utf8')

/** The files of a policy with these rules, each `role, path, method`. */
export function policyFiles(rules: readonly string[]): PolicyFile[] {
  const lines = rules.length === 0 ? ['# postern: empty'] : rules.map((rule) => `p, ${rule}`)
  return [
    { name: 'model.conf', text: model },
    { name: 'policy.csv', text: `${lines.join('\n')}\n` },
  ]
}

/** The same as a document, by an author whose name does not matter. */
export function documentOf(
  rules: readonly string[],
  changes: { readonly author?: string; readonly message?: string; readonly parent?: string } = {},
): PolicyDocument {
  const { author = 'ada', message = 'for a test', parent } = changes
  return createDocument(policyFiles(rules), { author, message, parent, now: new Date() })
}
