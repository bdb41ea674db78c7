import type { Granted } from '../../answers/coverage/coverage.ts'
import type { OperationFinding } from '../../answers/coverage/findings.ts'
import type { WithoutEffect } from '../../answers/placed-diff.ts'
import { Type } from '../../config/schema/type.ts'
import type { Answer, Expectation } from '../../policy/expectations/test-suite.ts'
import { question } from '../operation.ts'
import { flag, list, nullable, text, whole, word } from '../schema.ts'
import { askedFields } from './fields.ts'
import { access, call, engine, exclusion, finding, origin, problem, rule } from './schemas.ts'

const versionField = {
  value: 'DIR',
  local: true,
  description:
    'policy directory, or a commit as git:REF or git:REF:PATH (default: policy.directory of the configuration, else policies)',
} as const

export const policyCheck = question({
  name: 'policy check',
  summary: 'validate a policy directory and print warnings',
  needsThread: true,
  draft: { field: 'dir' },
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

/** What the tests of a valid policy say. */
export const testedPolicy = Type.Object(
  {
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
    untested: Type.Optional(
      Type.Object(
        {
          ...{ routes: list(text), routeCount: whole, operationCount: whole },
          operations: list(Type.Object({ ...call, operationId: Type.Optional(text), origin })),
        },
        { description: 'With routes: those that no test is about.' },
      ),
    ),
  },
  { title: 'TestedPolicy' },
)

export const policyTest = question({
  name: 'policy test',
  summary: 'run the tests of a policy directory',
  needsThread: true,
  draft: { field: 'dir' },
  input: {
    dir: versionField,
    'min-coverage': {
      ...{ value: 'PERCENT', number: { min: 0, max: 100 }, default: '0' },
      description: 'fail when tests cover fewer rules and exclusions than this',
    },
    routes: { description: 'also list routes and OpenAPI operations that no test is about' },
  },
  document: Type.Union([
    testedPolicy,
    Type.Object({ ok: Type.Literal(false), directory: text, errors: list(problem) }),
  ]),
})

const grant = Type.Object({
  ...{ methods: list(text), path: text, example: Type.Optional(Type.Object(call)) },
  ...{ certain: flag, owner: Type.Optional(text), origin },
})

const share = Type.Object(
  {
    ...{ roleCount: whole, roles: Type.Optional(list(text)), grants: list(grant) },
    rolesAt: Type.Optional(
      Type.String({ description: 'Where a long list of roles is, such as changes[0].shares[0].' }),
    ),
  },
  { title: 'ChangeShare' },
)

const change = Type.Object(
  {
    direction: word('gain', 'loss'),
    severity: word(
      ...(['superuser', 'unchecked', 'wide', 'changing', 'reading', 'uncertain', 'loss'] as const),
    ),
    cause: word('superuser', 'allow', 'deny', 'inheritance', 'exclusion', 'casbin'),
    ...{ line: word('added', 'removed'), origin },
    ...{ roleKey: Type.Optional(text), parentKey: Type.Optional(text) },
    ...{ domains: Type.Optional(list(text)), text: Type.Optional(text), hasEffect: flag },
    withoutEffect: list(word<WithoutEffect>()),
    routes: list(Type.Object({ path: text, access, upstream: Type.Optional(text) })),
    ...{ until: Type.Optional(text), startsAt: Type.Optional(text), shares: list(share) },
  },
  { title: 'AccessChange' },
)

const difference = {
  ...{ from: text, to: text, widened: flag, areRoutesKnown: flag, widenedHere: flag },
  changes: list(change),
} as const

/** What one policy allows and another does not, as documents about both have it. */
export const accessDiff = Type.Object(difference, { title: 'AccessDiff' })

export const policyDiff = question({
  name: 'policy diff',
  summary: 'compare two policies by the access they grant',
  needsThread: true,
  draft: { field: 'to', needs: ['from'] },
  input: {
    from: {
      ...{ value: 'FROM', accepts: 'DIR|REVISION|live', published: true },
      description:
        'old policy: a directory, a commit (git:REF or git:REF:PATH), a revision or live (default: live)',
    },
    to: {
      ...{ value: 'TO', accepts: 'DIR|REVISION|live', published: true },
      description: 'new policy (default: policy.directory of the configuration, else policies)',
    },
    accounts: {
      description: 'name the accounts in the configured database that gain or lose at this gateway',
    },
    'this-gateway': {
      description: 'exit with 1 only if access widens at a gateway with this configuration',
    },
  },
  document: Type.Object({
    ...{ ...difference, engine, notes: list(text) },
    accounts: Type.Optional(
      Type.Array(
        Type.Object({
          ...{ roleKey: text, gains: flag, loses: flag },
          ...{ enabled: whole, disabled: whole, names: list(text) },
        }),
        { description: 'With accounts: of each role that gains or loses at this gateway.' },
      ),
    ),
  }),
})

const described = {
  ...{ ...call, operationId: Type.Optional(text), declaresSecurity: flag },
  origin: Type.Object({ file: text, line: whole, column: whole }),
} as const

const granted = {
  ...{ by: word<Granted['by']>(), ...call, origins: list(origin), roles: list(text) },
} as const

export const policyCoverage = question({
  name: 'policy coverage',
  summary: 'compare OpenAPI documents with the access that a policy grants',
  needsThread: true,
  input: {
    document: {
      ...({ value: 'DOCUMENT', accepts: 'FILE', many: true, local: true } as const),
      ...{ required: 'name a document', description: 'OpenAPI documents, JSON or YAML' },
    },
    base: {
      value: 'PATH',
      description:
        'base path of all operations, in place of servers and basePath; / for no base path',
    },
    strict: {
      description: 'exit with 1 if an operation is too open, unreachable or for admin only',
    },
    ...askedFields,
  },
  document: Type.Object({
    ...{ ok: flag, revision: text, policy: text },
    documents: list(Type.Object({ name: text, version: text, operations: whole })),
    findings: list(
      Type.Object({
        ...{ kind: word<OperationFinding<unknown>['kind']>(), failsStrict: flag, ...described },
        ...{ values: word('all', 'some'), example: nullable(text), sampled: flag, detail: text },
      }),
    ),
    unmatched: list(
      Type.Object({ ...granted, isOutside: flag, nearest: nullable(Type.Object(described)) }),
    ),
    prefixRules: list(Type.Object({ ...granted, operations: whole })),
    operations: list(
      Type.Object({
        ...{ ...described, sampled: flag },
        access: list(Type.Object({ access: text, example: text })),
      }),
    ),
    notes: list(text),
  }),
})
