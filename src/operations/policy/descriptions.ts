import type { CallRefusal } from '../../admission/verdict.ts'
import { type TUnsafe, Type } from '../../config/schema/type.ts'
import { question } from '../operation.ts'
import { flag, list, nullable, text, whole, word } from '../schema.ts'
import { caller } from '../tokens/descriptions.ts'
import { askedFields, methodField, pathField } from './fields.ts'
import { about, access, call, differs, exclusion, held, open, route, rule } from './schemas.ts'

export const policyNames = question({
  name: 'policy names',
  summary: 'list the roles, methods and paths that a policy and the routes name',
  needsThread: true,
  input: askedFields,
  document: Type.Object({
    roles: list(text),
    operations: list(Type.Object({ ...call, from: list(text) })),
    ...about,
  }),
})

export const policyOpen = question({
  name: 'policy open',
  summary: 'list every endpoint that needs no permission',
  needsThread: true,
  input: askedFields,
  document: Type.Object({
    ...open,
    otherTokens: nullable(
      list(
        Type.Union(
          [
            Type.Object({ kind: Type.Literal('service'), maxLifetimeSeconds: whole }),
            Type.Object({ kind: Type.Literal('issuer'), issuer: text, roles: list(text) }),
          ],
          { title: 'OtherTokens' },
        ),
      ),
      'null: no configuration says which other tokens gateways accept.',
    ),
    ...about,
  }),
})

export const policyGuard = question({
  name: 'policy guard',
  summary: 'list the guardrails of a policy, and prove those that it breaks',
  needsThread: true,
  input: askedFields,
  document: Type.Object({
    ok: flag,
    guardrails: list(
      Type.Object({
        ...{ text, reason: Type.Optional(text), origin: Type.Object({ file: text, line: whole }) },
        violations: list(
          Type.Object({
            message: text,
            proof: Type.Optional(Type.Object({ roleKey: Type.Optional(text), ...call })),
          }),
        ),
      }),
    ),
    ...about,
  }),
})

const effective = Type.Object(
  {
    ...held,
    effect: word('allows', 'partly', 'outweighed', 'denies', 'idle'),
    example: Type.Optional(Type.Object(call)),
  },
  { title: 'EffectiveRule' },
)

const difference = Type.Object(
  { ...held, isWhole: flag, example: Type.Object(call), isUnserved: flag },
  { title: 'RoleDifference' },
)
const differences = Type.Object(
  { differences: list(difference), isEverything: flag, isExact: flag, unasked: whole },
  { title: 'RoleDifferences' },
)

/** Whom `--user` found. */
const account = Type.Optional(
  Type.Object({
    ...{ userId: text, username: text },
    roleKey: nullable(text, 'null: the account has no role.'),
    ...{ roleId: Type.Optional(text), roleName: Type.Optional(text) },
    ...{ dataScope: Type.Optional(text), enabled: Type.Optional(flag) },
    kind: Type.Optional(Type.Literal('service')),
  }),
)
const userField = {
  value: 'NAME',
  once: true,
  description: 'ask for the role of this account',
} as const

export const policyCan = question({
  name: 'policy can',
  summary: 'list everything that a role or an account may do',
  needsThread: true,
  input: {
    role: {
      ...({ value: 'ROLE', unless: ['user'] } as const),
      description: 'role key, such as editor',
    },
    user: userField,
    compare: { value: 'ROLE', description: 'show the differences from this role instead' },
    ...askedFields,
  },
  document: Type.Union([
    Type.Object(
      {
        roleKey: text,
        unrestricted: Type.Optional(
          Type.Union([Type.Literal('admin'), Type.Object({ clause: text })]),
        ),
        ...{ isKnown: flag, inherits: list(text) },
        routes: list(
          Type.Object({
            ...{ route: Type.Optional(route), isFixedResponse: flag, rules: list(effective) },
          }),
        ),
        ...{ unserved: list(effective), ineffective: list(effective), isExact: flag },
        ...{ unasked: whole, open: Type.Object(open), account, ...about },
      },
      { title: 'RoleAccess' },
    ),
    Type.Object(
      {
        ...{ roleKey: text, comparedWith: text, more: differences, less: differences },
        ...{ account, ...about },
      },
      { title: 'RoleComparison' },
    ),
  ]),
})

export const policySimulate = question({
  name: 'policy simulate',
  summary: 'show what an account would gain and lose with another role',
  needsThread: true,
  input: {
    user: { ...userField, required: 'give the account', description: 'the account' },
    'add-role': {
      ...{ value: 'ROLE', required: 'give the role to add' },
      description: 'role that the account would have',
    },
    'remove-role': {
      value: 'ROLE',
      description: 'role that it would no longer have: the one that it has now',
    },
    ...askedFields,
  },
  document: Type.Object({
    ...{ roleKey: text, withRoles: list(text), gains: differences, losses: differences },
    ...{ account, ...about },
  }),
})

const accountCount = Type.Object(
  {
    ...{ enabled: whole, disabled: whole },
    names: Type.Optional(Type.Array(text, { description: 'With names: of the enabled ones.' })),
  },
  { title: 'AccountCount' },
)
const accounts = Type.Optional(
  nullable(accountCount, 'null: the accounts could not be counted, and a note says why.'),
)
const roleByRule = Type.Object(
  { roleKey: text, ...held, alsoAllowedBy: list(Type.Object(held)), accounts },
  { title: 'RoleByRule' },
)

export const policyWho = question({
  name: 'policy who',
  summary: 'list the roles that may make a call',
  needsThread: true,
  input: {
    method: methodField,
    path: pathField,
    accounts: { description: 'count the accounts of each role in the configured database' },
    names: { description: 'with --accounts, name them' },
    ...askedFields,
  },
  document: Type.Object({
    ...{ ...call, superusers: list(Type.Object({ roleKey: text, clause: text })) },
    ...{
      otherMethods: list(rule),
      allows: word('none', 'roles', 'authenticated', 'everyone'),
    },
    ...{ refusal: Type.Optional(text), refused: Type.Optional(text), isUnserved: flag },
    ...{ route: nullable(text), access: nullable(access), upstream: nullable(text) },
    ...{ isFixedResponse: flag, endpoint: nullable(text), exclusion: nullable(exclusion) },
    ...{ admin: Type.Object({ allowed: flag, accounts }), roles: list(roleByRule) },
    ...{ deniedRoles: list(roleByRule), ...about },
  }),
})

export const policyExplain = question({
  name: 'policy explain',
  summary: 'show whether a caller may make a call, and which rule decides',
  needsThread: true,
  input: {
    role: {
      ...({ value: 'ROLE', unless: ['user', 'token', 'anonymous'] } as const),
      description: 'role key, such as editor; put -- before one that starts with a dash',
    },
    method: methodField,
    path: {
      ...{ value: 'PATH', required: 'give the path' },
      description: 'request path, or https://HOST/PATH; the policy does not see a query string',
    },
    user: userField,
    token: {
      ...{ value: 'TOKEN|-', once: true, local: true },
      description:
        'ask for the owner of this token; - reads it from stdin, out of the shell history',
    },
    anonymous: { description: 'ask for a caller without a token' },
    ...askedFields,
  },
  document: Type.Object({
    allowed: flag,
    step: word(
      ...(['admin', 'exclusion', 'superuser', 'rule', 'none', 'route'] as const),
      ...(['endpoint', 'refused'] as const),
    ),
    need: Type.Optional(word('nothing', 'identity', 'permission')),
    ...{ rule: Type.Optional(rule), exclusion: Type.Optional(exclusion) },
    clause: Type.Optional(text),
    ...{ roleKey: nullable(text, 'null: the gateway does not identify the caller.'), ...call },
    ...{ host: Type.Optional(text), isUnserved: flag },
    ...{ refusal: Type.Optional(word<CallRefusal>()), refused: Type.Optional(text) },
    account,
    token: Type.Optional(Type.Object({ id: text, expiresAt: text, caller })),
    ...{ route: nullable(text), access: nullable(access), upstream: nullable(text) },
    ...{ isFixedResponse: flag, endpoint: nullable(text) },
    nearMisses: list(Type.Object({ differs, rule })),
    notes: list(text),
    ...{ policy: nullable(text, 'null: no policy was evaluated.'), revision: nullable(text) },
  }),
})

/** What decided: a line of the policy, or why there is none. */
const decided = { step: text, line: text } as const
const { at: _, ...blameFields } = askedFields

export const policyBlame = question({
  name: 'policy blame',
  summary: 'show since when a role may make a call, and who changed that',
  needsThread: true,
  input: {
    role: { value: 'ROLE', required: 'give the role', description: 'role key, such as editor' },
    ...{ method: methodField, path: pathField, ...blameFields },
  },
  document: Type.Object({
    ...{ roleKey: text, ...call, allowed: flag },
    changes: list(
      Type.Object(
        {
          ...{ ...decided, at: nullable(text, 'null: in files that are not committed.') },
          cause: word('published', 'committed', 'uncommitted', 'expired'),
          ...{ revision: text, commit: Type.Optional(text), author: Type.Optional(text) },
          ...{ message: Type.Optional(text), signers: list(text) },
        },
        {
          title: 'DecisionChange',
          description: 'The newest decides now; the oldest is since when.',
        },
      ),
    ),
    before: nullable(Type.Object(decided), 'null: no older version decided otherwise.'),
    isComplete: flag,
    ...about,
  }),
})

export const policyFiles = question({
  name: 'policy files',
  summary: 'print the files of a policy',
  needsThread: true,
  input: {
    revision: {
      ...{ value: 'DIR|REVISION|live', published: true },
      description:
        'a directory, a revision, a proposal or live (default: what the gateway of the configuration loads)',
    },
    tests: { description: 'also print tests/*_test.yaml' },
  },
  document: Type.Object({
    policy: text,
    revision: nullable(text, 'null: the files are not valid, so they have none.'),
    files: list(Type.Object({ name: text, text })),
  }),
})

const evidence = Type.Object({}, { additionalProperties: true }) as unknown as TUnsafe<
  Readonly<Record<string, unknown>>
>

export const policyHistory = question({
  name: 'policy history',
  summary: 'list who published which revision, when and why',
  input: {
    limit: {
      ...{ value: 'N', number: { min: 1, integer: true }, default: '20' },
      description: 'number of entries, newest first',
    },
  },
  document: list(
    Type.Object(
      {
        ...{ revision: text, sequence: whole, author: text, message: text, at: text, kind: text },
        ...{ id: Type.Optional(text), origin: Type.Optional(text), publisher: Type.Optional(text) },
        signed: Type.Optional(Type.Object({ statement: text, signatures: list(text) })),
        ...{ evidence: Type.Optional(evidence), signers: list(text) },
      },
      { title: 'HistoryEntry' },
    ),
  ),
})

/** Cells by role or letter. */
const cells = Type.Record(
  Type.String({ pattern: '' }),
  word(
    ...(['no', 'allowed', 'inherited', 'superuser', 'everyone', 'partly'] as const),
    ...(['partly inherited', 'partly everyone', 'denied', 'admin'] as const),
  ),
)

const operation = {
  ...{ ...call, access: list(text), servedBy: list(text), isFixedResponse: flag, isExact: flag },
} as const
const compactOperation = Type.Object(
  { ...operation, cells: Type.String({ description: 'A letter for each role.' }) },
  { title: 'CompactOperation' },
)
const matrix = {
  ...{ policy: text, revision: text, roles: list(text) },
  ...{ unserved: list(Type.Object(call)), refused: list(Type.Object(call)) },
  ...{ unasked: list(Type.Object(call)), routesWithoutRule: list(text), notes: list(text) },
} as const

export const policyMatrix = question({
  name: 'policy matrix',
  summary: 'print a table of roles and operations',
  needsThread: true,
  input: {
    compact: { description: 'with --output json, one letter for each role of an operation' },
    ...askedFields,
  },
  document: Type.Union([
    Type.Object({ ...matrix, operations: list(Type.Object({ ...operation, cells })) }),
    Type.Object(
      { ...matrix, cells, operations: list(compactOperation) },
      { title: 'CompactMatrix', description: 'With compact. "cells" says what the letters mean.' },
    ),
  ]),
})
