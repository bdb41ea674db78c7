import { Type, type ValueOf } from '../../config/schema/type.ts'
import type { Decision } from '../../policy/decide.ts'
import { question } from '../operation.ts'
import { flag, list, nullable, optional, text, time, whole, word } from '../schema.ts'
import { askedFields } from './fields.ts'
import { about, call, columns, differs, exclusion, problem, rule } from './schemas.ts'

const observed = {
  ...{ days: whole, observedDays: whole, hours: whole, decisions: whole, uncounted: whole },
  ...{ firstRevisions: list(text), laterRevisions: list(text), isComplete: flag },
  from: nullable(time, 'null: nothing was observed.'),
} as const

/** Counts are about the past, so another time would answer nothing. */
const { at: _, ...askedNow } = askedFields

export const policyUnused = question({
  name: 'policy unused',
  summary: 'list grants, exclusions and roles that no request has used',
  needsThread: true,
  input: {
    days: {
      ...{ value: 'N', number: { min: 1, max: 90, integer: true }, default: '30' },
      description: 'days to look back, today included, at most 90',
    },
    write: {
      ...{ value: 'DIR', local: true },
      description: 'write a candidate without them into this new directory',
    },
    force: {
      local: true,
      description: 'with --write, also if gateways did not observe all of these days',
    },
    baseline: {
      ...{ value: 'DIR|REVISION', published: true },
      description:
        'the policy with which these days began: a directory, a commit as git:REF, or a revision',
    },
    ...askedNow,
  },
  document: Type.Object({
    ...{ policy: text, revision: text, observed: Type.Object({ ...observed, otherRoles: whole }) },
    baseline: Type.Object({ name: text, isKnown: flag }),
    grants: list(
      Type.Object({
        ...{ file: text, line: whole, ...columns, until: Type.Optional(text), isNew: flag },
      }),
    ),
    exclusions: list(
      Type.Object({
        ...{ file: text, line: whole, ...call, reason: text, until: Type.Optional(text) },
        isNew: flag,
      }),
    ),
    roles: list(Type.Object({ roleKey: text, isNew: flag, rules: whole, parents: whole })),
    unmentioned: list(Type.Object({ roleKey: text, count: whole, last: time })),
    notes: list(text),
    candidate: Type.Optional(
      Type.Object({
        ...{ directory: text, revision: text },
        dropped: Type.Object({ rules: whole, inheritances: whole, exclusions: whole }),
        ...{ tests: whole, failures: list(text), errors: list(problem) },
      }),
    ),
  }),
})

const denial = Type.Object(
  {
    ...{ roleKey: text, method: text, path: Type.Optional(text), domain: Type.Optional(text) },
    ...{ route: Type.Optional(text), count: whole, last: time, line: Type.Optional(text) },
    nearMisses: list(Type.Object({ differs, rule })),
    ...{ allowedNow: Type.Optional(flag), step: Type.Optional(text) },
    ...{ isUnserved: Type.Optional(flag), rule: Type.Optional(rule) },
  },
  { title: 'Denial' },
)

export const policyDenials = question({
  name: 'policy denials',
  summary: 'list what gateways refused most often, and the line that would allow it',
  needsThread: true,
  // Counts are of what is live.
  draft: { field: 'policies', without: ['revision', 'at'] },
  input: {
    since: {
      ...{ value: 'TIME', default: '1d' },
      description: 'how far to look back: 12h, 1d, 30d, or a date such as 2026-11-01',
    },
    limit: {
      ...{ value: 'N', number: { min: 1, max: 1000, integer: true }, default: '20' },
      description: 'how many to list, the most frequent ones first',
    },
    ...askedFields,
  },
  document: Type.Object({
    ...{ since: text, observed: Type.Object(observed), refusals: whole, others: whole },
    denials: list(denial),
    ...{ left: whole, ...about },
  }),
})

const distinct = Type.Object(
  {
    count: whole,
    isExact: Type.Boolean({ description: 'false: there were more than `count`.' }),
    some: list(text),
  },
  { title: 'DistinctCount' },
)

/** Calls of one line then and one line now. */
const replayChange = Type.Object(
  {
    ...{ result: word('allow', 'deny'), calls: whole },
    ...{ users: distinct, roles: distinct, methods: distinct },
    ...{ first: optional(text), last: optional(text) },
    example: Type.Object(
      {
        ...{ requestId: optional(text), at: optional(text), userId: optional(text), roleKey: text },
        ...{ host: optional(text), domain: Type.Optional(text), ...call },
      },
      { description: 'The first call that was read.' },
    ),
    before: Type.Object({
      ...{ step: text, revisions: distinct },
      rule: optional(
        Type.Object({ file: text, line: whole }, { description: 'A line of that revision.' }),
      ),
    }),
    now: Type.Object({
      ...{ step: word<Decision['step']>(), rule: Type.Optional(rule) },
      ...{ exclusion: Type.Optional(exclusion), clause: Type.Optional(text) },
    }),
  },
  { title: 'ReplayChange' },
)

const unreadLine = Type.Object({ file: text, line: whole, message: text })

const replay = {
  revision: Type.String({ description: 'The policy that evaluated the calls.' }),
  lines: whole,
  otherLines: Type.Integer({ description: 'Log lines that are not decisions.' }),
  unreadable: Type.Array(unreadLine, {
    description: 'Logs that could be read up to this line only.',
  }),
  damaged: Type.Object({ lines: whole, first: optional(unreadLine) }),
  ...{ decisions: whole, first: optional(text), last: optional(text) },
  asked: Type.Integer({ description: 'Decisions that were asked again.' }),
  unchanged: whole,
  wouldDeny: Type.Integer({ description: 'Allowed then, denied now.' }),
  wouldAllow: Type.Integer({ description: 'Denied then, allowed now.' }),
  notAsked: Type.Object(
    { identity: whole, route: whole },
    {
      description:
        'No policy decided these: the token was refused, or the route needs no permission.',
    },
  ),
  couldNotAsk: Type.Object({
    ...{ 'hashed-path': whole, 'omitted-path': whole, 'ambiguous-path': whole },
    ...{ 'omitted-role': whole, 'omitted-domain': whole, 'unknown-step': whole },
    'engine-failed': whole,
  }),
  revisions: Type.Array(Type.Object({ revision: text, decisions: whole }), {
    description: 'By which gateways decided the replayed calls, most decisions first.',
  }),
  otherRevisions: Type.Integer({
    description: 'Decisions of further revisions, or without one.',
  }),
  changes: list(replayChange),
  unlisted: Type.Object(
    { deny: whole, allow: whole },
    { description: 'Calls that change and are not in the list, because it is too long.' },
  ),
} as const

/** What a policy answers to recorded decisions, as all documents have it. */
export const replayed = Type.Object(replay, { title: 'Replay' })
export type Replayed = ValueOf<typeof replayed>

export const policyReplay = question({
  name: 'policy replay',
  summary: 'ask a policy again what gateways decided',
  access: 'author',
  needsThread: true,
  draft: { field: 'policies', isNeeded: true },
  input: {
    file: {
      ...{ value: 'FILE', many: true, local: true },
      description:
        'decision logs; - reads standard input (default: logger.decisions.file of the configuration)',
    },
    policies: {
      ...{ value: 'DIR|REVISION|live', local: true },
      description:
        'policy to ask: a directory, a commit (git:REF), a revision or live (default: policy.directory of the configuration, else policies)',
    },
    since: {
      value: 'TIME',
      description: 'leave out earlier decisions: 6h, 7d or a UTC date such as 2026-11-01',
    },
    'fail-on': {
      ...({ value: 'CHANGE', choices: ['deny', 'allow', 'any'], local: true } as const),
      description:
        'exit with 1 if calls would be denied (deny), would be allowed (allow), or either (any)',
    },
  },
  document: Type.Object({ policies: text, failed: flag, notes: list(text), ...replay }),
})
