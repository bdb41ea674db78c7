import { packagedText } from './packaged.ts'
import type { GeneratedFile } from './template.ts'

/** A policy directory with one rule and what must hold of it. */
export function policyFiles({ rules, tests }: PolicyTexts): readonly GeneratedFile[] {
  return [
    { name: 'policies/model.conf', text: packagedText('policies/model.conf') },
    { name: 'policies/exclusions.yaml', text: exclusions },
    { name: 'policies/policy.csv', text: `${rulesHeader}\n${rules}` },
    { name: 'policies/tests/policy_test.yaml', text: `${testsHeader}\n${tests}` },
  ]
}

interface PolicyTexts {
  readonly rules: string
  readonly tests: string
}

const exclusions = `# Endpoints that skip the permission check. Every caller with a valid token may call them, whatever
# the role, so do not list business endpoints here. Each entry has one method, one path and a reason.
# The endpoints of Postern (login, logout, profile, password) need no entry.
#
# - method: GET
#   path: /menu
#   reason: Every page shows the menu.
[]
`

const rulesHeader = `# What each role may do: p, role key, path, method.
#
# The role \`admin\` needs no lines: it skips the permission check.
# A line allows exactly the method it names: GET does not include HEAD. \`*\` is every method.
# \`:id\` matches one segment, \`*\` at the end matches the rest of the path.
# Every *.csv file in this directory is read. A running gateway loads changes within a second.
`

const testsHeader = `# What must hold, whatever the rules say. \`expect\` is allow or deny; a failure prints \`reason\`.
# Run the tests with: postern policy test
`

/** The policy of a new application: one role reads everything. */
export function readerPolicy(role: string): readonly GeneratedFile[] {
  return policyFiles({
    rules: `# ${role}: reads everything, changes nothing. Only a start: name the paths that the role needs, and
# delete the next line, which silences a warning.
# postern: ignore wide-rule
p, ${role}, /*, GET
`,
    tests: `- role: ${role}
  method: GET
  path: /
  expect: allow
- role: ${role}
  method: DELETE
  path: /orders/7
  expect: deny
  reason: This role only reads.
`,
  })
}
