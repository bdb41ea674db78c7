import { Type } from '../../config/schema/type.ts'
import type { Answer, Expectation } from '../../policy/expectations/test-suite.ts'
import { question } from '../operation.ts'
import { flag, list, text, whole, word } from '../schema.ts'
import { call, engine, exclusion, finding, problem, rule } from './schemas.ts'

const versionField = {
  value: 'DIR',
  local: true,
  description:
    'policy directory, or a commit as git:REF or git:REF:PATH (default: policy.directory of the configuration, else policies)',
} as const

export const policyCheck = question({
  name: 'policy check',
  summary: 'validate a policy directory and print warnings',
  details: `Errors make the policy unusable. Warnings point at probable mistakes: duplicate and redundant
rules, very wide rules, rules that never apply or that no route serves, mistyped roles, deny rules
without effect, exclusions that look like business endpoints, lines that have expired or expire
within 14 days. Routes come from the configuration.
Works offline, except for --against with a revision or "live", and --accounts.

A comment "# postern: ignore CODE" above a line states that you mean the line.`,
  needsThread: true,
  input: {
    dir: versionField,
    strict: { description: 'treat warnings as errors, for CI' },
    against: {
      ...{ value: 'DIR|REVISION|live', published: true },
      description: 'warn about roles that this policy does not name',
    },
    accounts: { description: 'warn about roles that have no row in the accounts database' },
  },
  document: Type.Object({
    ...{ ok: flag, directory: text, revision: Type.Optional(text), engine: Type.Optional(engine) },
    superusers: Type.Optional(list(Type.Object({ role: text, inherited: flag, clause: text }))),
    ...{ rules: Type.Optional(whole), roles: Type.Optional(whole) },
    ...{ exclusions: Type.Optional(whole), errors: list(problem), warnings: list(finding) },
  }),
})

const expectation = {
  ...{ role: Type.Optional(text), domain: Type.Optional(text), ...call },
  ...{ host: Type.Optional(text), expect: word<Expectation['expect']>() },
  ...{ step: Type.Optional(word<Answer['step']>()), reason: Type.Optional(text) },
  ...{ withoutRules: flag, at: Type.Optional(text) },
} as const

const decision = Type.Object({
  ...{ allowed: flag, step: word<Answer['step']>(), isUnserved: Type.Optional(flag) },
  ...{ rule: Type.Optional(rule), exclusion: Type.Optional(exclusion), revision: text },
})

export const policyTest = question({
  name: 'policy test',
  summary: 'run the tests of a policy directory',
  details: `Checks the directory, then evaluates every entry of tests/*_test.yaml as the gateway does for a
caller with this role and a valid token. Routes come from the configuration. Works offline. An entry:

  - role: viewer               # or anonymous: true, for no token
    method: PUT
    path: /api/v1/orders/7     # canonical, as the policy sees it
    expect: deny               # or allow
    reason: A viewer must not change orders.
    step: none                 # optional: admin, exclusion, superuser, rule,
                               #   none, route, endpoint or refused
    at: 2026-12-01             # optional: the time to answer for, else now
    withoutRules: true         # optional: this role has no rules on purpose

The report lists rules and exclusions that no test covers.`,
  needsThread: true,
  input: {
    dir: versionField,
    'min-coverage': {
      ...{ value: 'PERCENT', number: { min: 0, max: 100 }, default: '0' },
      description: 'fail when tests cover fewer rules and exclusions than this',
    },
  },
  document: Type.Union([
    Type.Object({
      ...{ ok: flag, directory: text, revision: text, tests: whole, failed: whole },
      failures: list(
        Type.Object({
          ...{ file: text, line: whole, column: whole, message: text },
          ...{ expectation: Type.Object(expectation), decision },
        }),
      ),
      coverage: Type.Object({
        rules: Type.Object({ total: whole, decided: whole, undecided: list(rule) }),
        exclusions: Type.Object({ total: whole, decided: whole, undecided: list(exclusion) }),
        percent: whole,
      }),
      warnings: list(finding),
    }),
    Type.Object({ ok: Type.Literal(false), directory: text, errors: list(problem) }),
  ]),
})
