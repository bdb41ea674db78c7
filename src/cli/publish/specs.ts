import { type CommandSpec, configOption, outputOption } from '../command.ts'
import { directoryArgument } from '../policy/specs.ts'

/** Why, which `push` and `propose` require. */
export const messageOption = {
  message: {
    short: 'm',
    value: 'MESSAGE',
    required: 'give the reason for this change',
    description: 'reason for this change',
  },
} as const

/** What the user accepts about a policy directory. */
export const candidateOptions = {
  'allow-slow': {
    description: 'accept a model that the index cannot answer: every rule adds to each decision',
  },
  'allow-empty': { description: 'accept a policy without rules: only admin keeps access' },
  accounts: { description: 'warn about roles that have no row in the accounts database' },
  'no-tests': { description: 'accept a directory without tests; tests that exist still run' },
} as const

/** The key of the person who publishes or approves. */
export const keyOption = {
  key: {
    value: 'FILE',
    description: 'sign with this private key, for gateways with policy.trust',
  },
} as const

/** The log that `push`, `rollback` and `propose` ask. */
export const replayOption = {
  replay: {
    value: 'FILE',
    once: true,
    description: 'before asking, show which decisions of this decision log would change',
  },
} as const

/** The options of the commands that publish. */
export const publishOptions = {
  yes: { short: 'y', description: 'publish without asking' },
  over: {
    value: 'REVISION|live',
    description: 'publish only if this revision is live; "live" replaces any revision',
  },
  ...replayOption,
  ...keyOption,
  author: {
    value: 'NAME',
    description: 'author in the history (default: the owner of the key, else your user name)',
  },
  wait: {
    value: 'SECONDS',
    number: { min: 0, max: 3600 },
    description: 'how long to wait for the replicas; 0 checks once (default: 15)',
  },
  replicas: {
    value: 'N',
    number: { min: 1, max: 10_000, integer: true },
    description: 'fail unless exactly N replicas use it; each gateway process is a replica',
  },
  'no-wait': {
    description:
      'publish without checking the replicas, for a first policy before any gateway runs',
  },
  'allow-lost': {
    description:
      'succeed although replicas are lost or none has reported, for a deployment that replaces them',
  },
  ...outputOption,
  ...configOption,
} as const

export const pushSpec = {
  name: 'policy push',
  summary: 'check, test and publish a policy directory, or publish an approved proposal',
  details: `Shows what changes compared with the live policy, asks for confirmation, publishes to Redis and
waits until every known replica uses the new revision.

Never replaces a revision that you have not seen: "pull" and "push" record in DIR/.postern/base which
revision of this Redis the files come from. When another revision is live, "push" refuses and names
its author. Files without that record need --over together with --yes.

With the REVISION of a proposal, publishes exactly what was proposed, once enough trusted keys have
signed it. When policy.trust requires one signature, push DIR --key signs and publishes at once.`,
  arguments: [
    {
      name: 'DIR|REVISION',
      optional: true,
      description: 'policy directory (default: policy.directory), or the revision of a proposal',
    },
  ],
  options: {
    message: {
      short: 'm',
      value: 'MESSAGE',
      description: 'reason for this change; required for a directory',
    },
    ...candidateOptions,
    shadow: {
      description:
        'make it the shadow: gateways evaluate it beside the live policy and enforce nothing of it',
    },
    'dry-run': {
      description: 'do everything except publish, and exit as push would if you said yes',
    },
    ...publishOptions,
  },
  exitCodes: {
    0: 'published and active on every replica (with --no-wait: published)',
    1: 'not published, not signed by enough keys, or replicas are behind, lost or unknown',
    3: 'the policy or the configuration is not valid',
    4: 'a test failed, or the directory has no tests',
    5: 'Redis is unreachable, does not confirm what was published, or the proposal does not exist',
  },
  examples: [
    "postern policy push -m 'clerks may cancel orders'",
    "postern policy push -m 'clerks may cancel orders' --key ann.pem",
    'postern policy push r-3f2a9c81d604',
    "postern policy push -m 'release 7' ../policies --yes --author ci --over r-3f2a9c81d604 --replicas 12",
    "postern policy push -m 'clerks may cancel orders' --shadow  # then: postern policy shadow",
    "postern policy push -m 'release 7' ../policies --dry-run  # for a pull request",
    "postern policy push -m 'incident 12: admin only' ../empty --allow-empty",
    "POSTERN_REDIS__URL=redis://redis:6379 postern policy push -m 'first policy' --no-wait",
  ],
} as const satisfies CommandSpec

export const pullSpec = {
  name: 'policy pull',
  summary: 'write a published policy into a directory',
  details: `Writes model.conf, *.csv and exclusions.yaml as they were pushed. Never touches the tests. Records the
revision in DIR/.postern/base, so that "push" refuses to undo a later revision.`,
  usage: ['[REVISION|live] [DIR] [OPTIONS]'],
  arguments: [
    { name: 'REVISION|live', optional: true, description: 'published policy (default: live)' },
    directoryArgument,
  ],
  options: {
    force: { description: 'replace the other policy files in DIR' },
    ...outputOption,
    ...configOption,
  },
  exitCodes: {
    0: 'written, or already up to date',
    1: 'not written: the directory has other files',
    3: 'the configuration is not valid',
    5: 'Redis is unreachable, nothing is published, or the revision does not exist',
  },
  examples: [
    'postern policy pull',
    'postern policy pull r-3f2a9c81d604 ../before',
    'postern policy pull live policies --force',
  ],
} as const satisfies CommandSpec

export const statusSpec = {
  name: 'policy status',
  summary: 'show which revision each replica uses',
  details: `A replica that stops reporting without an orderly shutdown stays listed as lost for
policy.replicaMemory (24 hours by default): if it still runs, it uses its last policy. Forget a
replica that no longer runs. Shows why a replica cannot load or confirm the newest policy.`,
  arguments: [],
  options: {
    forget: { value: 'ID|lost', description: 'forget this lost replica, or all lost replicas' },
    ...outputOption,
    ...configOption,
  },
  exitCodes: {
    0: 'every known replica uses the live revision',
    1: 'replicas are behind, lost or unknown, or nothing is published',
    3: 'the configuration is not valid',
    5: 'Redis is unreachable',
  },
  examples: [
    'postern policy status',
    'postern policy status --forget gw-7-3fa91c',
    'watch -n 2 postern policy status',
    "postern policy status --output json | jq -r '.replicas[] | select(.lost) | .id'",
  ],
} as const satisfies CommandSpec

export const rollbackSpec = {
  name: 'policy rollback',
  summary: 'publish an earlier revision again',
  details: `Shows what changes compared with the live policy, asks for confirmation, publishes the old revision
as a new entry of the history and waits until every known replica uses it.`,
  arguments: [
    { name: 'REVISION', description: 'revision to publish; its first 12 hex digits are enough' },
  ],
  options: {
    message: {
      short: 'm',
      value: 'MESSAGE',
      description: 'reason for this change (default: "back to REVISION")',
    },
    ...publishOptions,
  },
  exitCodes: {
    0: 'published and active on every replica (with --no-wait: published)',
    1: 'not published, not signed by enough keys, or replicas are behind, lost or unknown',
    3: 'the configuration is not valid',
    5: 'Redis is unreachable or does not confirm, or the revision does not exist',
  },
  examples: [
    'postern policy rollback r-3f2a9c81d604',
    "postern policy rollback r-3f2a9c81d604 -m 'incident 12' --yes --author oncall",
    'postern policy rollback r-3f2a9c81d604 --key ann.pem',
  ],
} as const satisfies CommandSpec
