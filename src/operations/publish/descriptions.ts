import { Type, type ValueOf } from '../../config/schema/type.ts'
import type { FleetEvidence } from '../../policy/shadow/fleet-evidence.ts'
import type { Obstacle } from '../../policy/shadow/promotion.ts'
import type { Head, ReplicaReport } from '../../stores/policies/policy-store.ts'
import { change, local, question } from '../operation.ts'
import { accessDiff, testedPolicy } from '../policy/check-descriptions.ts'
import type { diffDocument } from '../policy/diff-document.ts'
import { replayed } from '../policy/evidence-descriptions.ts'
import { engine, problem } from '../policy/schemas.ts'
import { facts } from '../running/descriptions.ts'
import {
  flag,
  list,
  nullable,
  number,
  optional,
  text,
  time,
  typed,
  whole,
  word,
} from '../schema.ts'
import type { Convergence } from './convergence.ts'
import type { proposalDocument } from './proposal-state.ts'

const signed = Type.Object({ statement: text, signatures: list(text) })
const head = typed<Head>(
  Type.Object({
    ...{ revision: text, sequence: whole, author: optional(text), signed: optional(signed) },
  }),
)
const counts = { evaluated: whole, wouldDeny: whole, wouldAllow: whole, failed: whole } as const

const replica = typed<ReplicaReport>(
  Type.Object({
    ...{ id: text, revision: optional(text), sequence: optional(whole), at: time },
    ...{
      ageSeconds: typed<number>({ type: 'number' }),
      stale: flag,
      lost: flag,
      lastError: optional(text),
    },
    ...{ version: text, facts: optional(facts) },
  }),
)

export const policyStatus = question({
  name: 'policy status',
  summary: 'show which revision each replica uses',
  input: {
    forget: {
      value: 'ID|lost',
      local: true,
      description: 'forget this lost replica, or all lost replicas',
    },
  },
  document: Type.Object({
    converged: Type.Boolean({ description: 'Whether every known replica uses the live revision.' }),
    head: nullable(head, 'null: nothing is published.'),
    signatures: Type.Integer({ description: 'How many signatures a policy needs.' }),
    replicas: list(replica),
    shadow: nullable(Type.Object({ revision: nullable(text), ...counts }), 'null: no shadow runs.'),
  }),
})

const ground = Type.Object({
  step: text,
  rule: Type.Optional(Type.Object({ file: text, line: whole, text })),
})
const disagreement = Type.Object(
  {
    ...{ would: word('deny', 'allow'), role: text, method: text, live: ground, shadow: ground },
    ...{ count: whole, first: time, last: time, requestId: text, path: Type.Optional(text) },
    ...{ domain: Type.Optional(text), userId: Type.Optional(text) },
  },
  { title: 'Disagreement' },
)
const evaluating = Type.Object(
  {
    ...{ id: text, state: word('evaluating', 'failed', 'missing', 'lost', 'ended') },
    ...{ version: Type.Optional(text), evaluatingMs: number, problem: Type.Optional(text) },
    ...counts,
  },
  { title: 'EvaluatingReplica' },
)
const evidence = {
  replicas: list(evaluating),
  ...{ ...counts, against: list(text), disagreements: list(disagreement) },
} as const
const observed = Type.Object({
  shadow: Type.Object({ revision: text, author: text, message: text, at: time }),
  ...{ live: nullable(text), ...evidence },
})
export type ShadowDocument = ValueOf<typeof observed>

export const policyShadow = question({
  name: 'policy shadow',
  summary: 'show what the shadow would deny and allow, or end it',
  input: {
    limit: {
      ...{ value: 'N', number: { min: 1, integer: true }, default: '20' },
      description: 'number of lines for each of the two lists, most frequent first',
    },
  },
  document: Type.Union([observed, Type.Object({ shadow: Type.Null() })]),
})

export const policyShadowEnd = change({
  name: 'policy shadow',
  summary: 'end the shadow and delete what was counted',
  input: {
    end: {
      value: 'end',
      choices: ['end'],
      needed: true,
      description: 'end the shadow and delete what was counted',
    },
  },
  document: typed<{ readonly ended: string | null } & Partial<ShadowDocument>>(
    Type.Object({
      ended: nullable(text, 'null: no valid shadow was ended.'),
      ...Object.fromEntries(
        Object.entries(observed.properties).map(([name, each]) => [name, optional(each)]),
      ),
    }),
  ),
})

const proposal = {
  ...{ revision: text, state: word('open', 'approved', 'stale'), author: text, message: text },
  ...{ at: text, kind: word('push', 'rollback') },
  over: nullable(text, 'null: nothing was published.'),
  evidence: Type.Object(
    {
      warnings: whole,
      tests: Type.Optional(Type.Object({ passed: whole, coverage: number })),
      replay: Type.Optional(
        Type.Object({
          ...{ decisions: whole, asked: whole, unchanged: whole, wouldDeny: whole },
          ...{ wouldAllow: whole, first: optional(text), last: optional(text) },
        }),
      ),
    },
    { title: 'ProposalEvidence' },
  ),
  ...{ signers: list(text), needed: whole },
  otherSignatures: Type.Integer({ description: 'Signatures that do not count.' }),
} as const

type ProposalDocument = ReturnType<typeof proposalDocument>
type Diff = ReturnType<typeof diffDocument>
const diff = typed<Diff>(accessDiff)

/** One proposal, with what its signatures are about. */
interface ProposalInFull extends ProposalDocument {
  readonly statement: string
  readonly signatures: readonly string[]
  readonly base: { readonly statement: string; readonly signatures: readonly string[] } | null
  readonly diff: Diff | undefined
}

export const policyProposals = question({
  name: 'policy proposals',
  summary: 'list the proposals and who has signed them, or show one',
  needsThread: true,
  input: {
    revision: {
      value: 'REVISION',
      published: true,
      description: 'show this proposal; its first 12 hex digits are enough',
    },
  },
  document: typed<readonly ProposalDocument[] | ProposalInFull>(
    Type.Union([
      list(Type.Object(proposal, { title: 'Proposal' })),
      Type.Object(
        {
          ...{ ...proposal, statement: text, signatures: list(text) },
          base: nullable(
            Type.Object({ statement: text, signatures: list(text) }),
            'What others signed of its predecessor; null: nothing.',
          ),
          diff: optional(diff),
        },
        { title: 'ProposalInFull' },
      ),
    ]),
  ),
})

export const policyProposalDrop = change({
  name: 'policy proposals',
  summary: 'remove a proposal',
  access: 'author',
  confirms: 'drop',
  input: {
    drop: {
      value: 'REVISION',
      published: true,
      needed: true,
      description: 'remove this proposal',
    },
  },
  document: Type.Object({ dropped: text }),
})

/** Why, which `push` and `propose` require. */
const message = { short: 'm', value: 'MESSAGE', description: 'reason for this change' } as const

/** What the user accepts about a policy directory. */
const candidate = {
  'allow-slow': {
    local: true,
    description: 'accept a model that the index cannot answer: every rule adds to each decision',
  },
  'allow-empty': {
    local: true,
    description: 'accept a policy without rules: only admin keeps access',
  },
  accounts: { description: 'warn about roles that have no row in the accounts database' },
  'no-tests': { description: 'accept a directory without tests; tests that exist still run' },
} as const

/** The key of the person who publishes or approves, which stays on their machine. */
const key = {
  value: 'FILE',
  local: true,
  description: 'sign with this private key, for gateways with policy.trust',
} as const

const replay = {
  value: 'FILE',
  once: true,
  local: true,
  description: 'before asking, show which decisions of this decision log would change',
} as const

const yes = { short: 'y', local: true, description: 'publish without asking' } as const

/** What the commands that publish have in common. */
const publishing = {
  yes,
  over: {
    value: 'REVISION|live',
    published: true,
    description: 'publish only if this revision is live; "live" replaces any revision',
  },
  ...{ replay, key },
  author: {
    value: 'NAME',
    local: true,
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
} as const

const checked = {
  ...{ replay: optional(replayed), engine, diff: optional(diff) },
} as const
const publishPlan = Type.Object({
  dryRun: Type.Literal(true),
  ok: Type.Boolean({ description: 'Whether it succeeds if every reporting replica loads it.' }),
  ...{ revision: text, publishes: flag, parent: nullable(text), ...checked },
  replicas: optional(list(Type.Object({ id: text, lost: flag }))),
})
const publication = Type.Object({
  ...{ head, parent: optional(text), ...checked },
  unconfirmed: optional(Type.String({ description: 'Why a failover of Redis could lose it.' })),
  convergence: optional(
    typed<Convergence>(
      Type.Object({
        ...{ head, replicas: list(replica), behind: list(replica), lost: list(replica) },
        ...{ expected: optional(whole), problem: optional(text) },
      }),
    ),
  ),
})
/** What was published, and who uses it. */
export type PublishedDocument = ValueOf<typeof publication>
/** What would be published. */
export type PublishPlan = ValueOf<typeof publishPlan>
/** A test failed, a directory is not valid, or a stored policy breaks a guardrail. */
const unfit = Type.Union([
  testedPolicy,
  Type.Object({
    ...{ ok: Type.Literal(false), errors: list(problem) },
    ...{ directory: Type.Optional(text), revision: Type.Optional(text) },
  }),
])

const { replay: _, ...shadowChecked } = checked
const shadowPlan = Type.Object({
  // `replaces` is absent where no shadow runs, and null for one that is not valid.
  ...{ dryRun: Type.Literal(true), ok: flag, shadow: text, replaces: optional(nullable(text)) },
  ...shadowChecked,
})
const shadowHead = Type.Object({
  ...{ revision: text, author: text, message: text, base: Type.Optional(text) },
  sequence: Type.Integer({ description: 'When it was pushed, in milliseconds.' }),
  signed: Type.Optional(signed),
})
const shadowPushed = Type.Object({
  ...{ ok: flag, shadow: shadowHead, ...shadowChecked },
  replicas: optional(list(evaluating)),
})
/** What would become the shadow. */
export type ShadowPlan = ValueOf<typeof shadowPlan>
/** What became the shadow. */
export type ShadowPushed = ValueOf<typeof shadowPushed>

export const policyPropose = change({
  name: 'policy propose',
  summary: 'check and test a policy, and store it for others to approve',
  access: 'author',
  needsThread: true,
  draft: { field: 'dir', isNeeded: true },
  input: {
    dir: {
      value: 'DIR|REVISION',
      local: true,
      description: 'policy directory (default: policy.directory), or an earlier revision',
    },
    message: { ...message, required: 'give the reason for this change' },
    ...candidate,
    replay: {
      ...replay,
      description: 'show and record how many decisions of this decision log would change',
    },
    key: { ...key, description: 'sign the proposal with this private key at once' },
    over: {
      // Without it, a draft of the console could undo what was published since it was begun.
      value: 'REVISION|live',
      published: true,
      needed: true,
      description: 'propose only if this revision is live; "live" replaces any revision',
    },
    author: {
      value: 'NAME',
      local: true,
      description: 'author of the proposal (default: the owner of the key, else your user name)',
    },
  },
  document: typed<ProposalDocument & { readonly diff: Diff | undefined }>(
    Type.Union([Type.Object({ ...proposal, diff: optional(diff) }), unfit]),
  ),
  plan: Type.Object({}),
})

export const policyApprove = change({
  name: 'policy approve',
  summary: 'review a proposal and sign it',
  access: 'author',
  needsThread: true,
  input: {
    revision: {
      value: 'REVISION',
      published: true,
      required: 'give the revision of the proposal',
      description: 'proposed revision; its first 12 hex digits are enough',
    },
    key: { ...key, description: 'sign with this private key' },
    signature: {
      value: 'TEXT',
      needed: true,
      description:
        'a signature that was made elsewhere, over "statement" of "policy proposals REVISION --output json": the base64 text of an SSH signature, in one line',
    },
    base: {
      value: 'DIR|git:REF',
      local: true,
      description:
        'compare with your own copy of the policy that the proposal follows, where Redis lost it or its signatures do not count',
    },
    replay: {
      ...replay,
      description:
        'show which decisions of this decision log would change (default: logger.decisions.file, if it exists here)',
    },
    'allow-failed-tests': {
      local: true,
      description: 'sign although tests of policy.directory fail',
    },
    yes: { ...yes, description: 'sign without asking' },
  },
  document: typed<ProposalDocument & { readonly signedBy: string }>(
    Type.Object({ signedBy: text, ...proposal }),
  ),
  plan: Type.Object({ revision: text, signer: text, diff: optional(diff) }),
})

export const policyPush = change({
  name: 'policy push',
  summary: 'check, test and publish a policy directory, or publish an approved proposal',
  needsThread: true,
  confirms: 'revision',
  input: {
    revision: {
      value: 'DIR|REVISION',
      published: true,
      needed: true,
      description: 'policy directory (default: policy.directory), or the revision of a proposal',
    },
    message: {
      ...message,
      local: true,
      description: 'reason for this change; required for a directory',
    },
    ...candidate,
    accounts: { ...candidate.accounts, local: true },
    'no-tests': { ...candidate['no-tests'], local: true },
    shadow: {
      local: true,
      description:
        'make it the shadow: gateways evaluate it beside the live policy and do not enforce it',
    },
    'dry-run': {
      local: true,
      description: 'do everything except publish, and exit as push would if you said yes',
    },
    ...publishing,
  },
  document: typed<PublishedDocument | ShadowPushed>(
    Type.Union([publication, shadowPushed, publishPlan, shadowPlan, unfit]),
  ),
  plan: Type.Union([publishPlan, shadowPlan]),
})

const obstacle = typed<Obstacle>(
  Type.Object({
    kind: word('no-evidence', 'would-deny', 'failed', 'not-evaluating', 'lost', 'too-short'),
    ...{ count: optional(whole), most: optional(whole), replica: optional(evaluating) },
  }),
)

export const policyPromote = change({
  name: 'policy promote',
  summary: 'make the shadow live if its evidence allows it',
  needsThread: true,
  confirms: 'revision',
  input: {
    revision: {
      value: 'REVISION',
      published: true,
      required: 'give the revision of the shadow',
      description: 'revision of the shadow; its first 12 hex digits are enough',
    },
    after: {
      value: 'DURATION',
      description: 'refuse unless every running replica has evaluated it for this long, such as 1h',
    },
    'max-would-deny': {
      ...{ value: 'N', number: { min: 0, integer: true }, default: '0' },
      description: 'refuse when the shadow would have denied more requests than N',
    },
    message: {
      ...message,
      description: 'reason for this change (default: the reason of the shadow)',
    },
    ...publishing,
  },
  document: Type.Union([
    publication,
    Type.Object({
      ...{ ok: flag, obstacles: list(obstacle) },
      evidence: typed<FleetEvidence>(Type.Object(evidence)),
    }),
  ]),
  plan: publishPlan,
})

export const policyRollback = change({
  name: 'policy rollback',
  summary: 'publish an earlier revision again',
  needsThread: true,
  confirms: 'revision',
  input: {
    revision: {
      value: 'REVISION',
      published: true,
      required: 'give the revision to publish',
      description: 'revision to publish; its first 12 hex digits are enough',
    },
    message: {
      ...message,
      description: 'reason for this change (default: "back to REVISION")',
    },
    ...publishing,
  },
  document: publication,
  plan: publishPlan,
})

export const policyPull = local({
  name: 'policy pull',
  summary: 'write a published policy into a directory',
  kind: 'change',
  input: {
    revision: { value: 'REVISION|live', description: 'published policy (default: live)' },
    dir: {
      value: 'DIR',
      description:
        'policy directory (default: policy.directory of the configuration, else policies)',
    },
    force: { description: 'replace the other policy files in DIR' },
  },
  document: Type.Object({ revision: text, directory: text, written: whole }),
})
