import { Type } from '../../config/schema/type.ts'
import { question } from '../operation.ts'
import { flag, list, nullable, text, time, whole } from '../schema.ts'
import { askedFields } from './fields.ts'
import { about, call, columns, countedRule, differs, problem } from './schemas.ts'

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
  details: `Reads what gateways counted, from Redis or, without redis.url, from the database: rules that allow and
never decided, exclusions that never let a request through, roles that no token carried, and roles
that tokens carry and the policy does not name. Says how many of the days were observed.

What was not in the policy when the observation began is too new to tell. That policy is the revision
that gateways used then, if Redis still has it; --baseline names another one. Rules that deny are never
listed: one that never matched may be what keeps callers from trying. Neither are lines that take over
from one that decided and expires, or has gone since the observation began.

With --write, writes a copy of the policy without what was not used, its tests included, and says which
tests would fail. Comments and order stay, and so does what is too new to tell.`,
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
        ...{ file: text, line: whole, ...columns, until: Type.Optional(whole), isNew: flag },
      }),
    ),
    exclusions: list(
      Type.Object({
        ...{ file: text, line: whole, ...call, reason: text, until: Type.Optional(whole) },
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
    nearMisses: list(Type.Object({ differs, rule: countedRule })),
    ...{ allowedNow: Type.Optional(flag), step: Type.Optional(text) },
    ...{ isUnserved: Type.Optional(flag), rule: Type.Optional(countedRule) },
  },
  { title: 'Denial' },
)

export const policyDenials = question({
  name: 'policy denials',
  summary: 'list what gateways refused most often, and the line that would allow it',
  details: `Reads what gateways counted, from Redis or, without redis.url, from the database: refused calls by role,
method and path, with ":id" in place of what looks like an identifier. For each: what the policy says
now, the rules that nearly match, and the line that would allow the call. Whether it should be
allowed is for you to decide: many refusals are right.

Counts are by UTC day, so the list begins with the day of --since. Requests refused before the policy
is asked, for example without a valid token, are not counted.`,
  needsThread: true,
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
