import { type CommandSpec, outputOption } from '../../command.ts'
import { askedOptions } from '../../questions/specs.ts'

/** Counts are about the past, so another time would answer nothing. */
const { at: _, ...askedNow } = askedOptions

export const couldNotCount = {
  3: 'the policy or the configuration is not valid',
  5: 'Redis or the database is unreachable, no gateway has counted yet, or the revision does not exist',
} as const

export const unusedSpec = {
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
  arguments: [],
  options: {
    days: {
      value: 'N',
      number: { min: 1, max: 90, integer: true },
      default: '30',
      description: 'days to look back, today included, at most 90',
    },
    write: { value: 'DIR', description: 'write a candidate without them into this new directory' },
    force: {
      description: 'with --write, also if gateways did not observe all of these days',
    },
    baseline: {
      value: 'DIR|REVISION',
      description:
        'the policy with which these days began: a directory, a commit as git:REF, or a revision',
    },
    ...outputOption,
    ...askedNow,
  },
  exitCodes: {
    0: 'listed, and written with --write',
    1: 'nothing was written: too little was observed, or no rule would be left',
    ...couldNotCount,
  },
  examples: [
    'postern policy unused',
    'postern policy unused --days 90 --revision live --config production.yaml',
    'postern policy unused --baseline git:HEAD~20  # policies in files have no history in Redis',
    'postern policy unused --write ../smaller && postern policy diff live ../smaller',
    "postern policy unused --output json | jq -r '.roles[].roleKey'",
  ],
} as const satisfies CommandSpec
