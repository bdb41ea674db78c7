import { Type, type ValueOf } from '../../config/schema/type.ts'
import type { FleetEvidence } from '../../policy/shadow/fleet-evidence.ts'
import type { Obstacle } from '../../policy/shadow/promotion.ts'
import { change, local, question } from '../operation.ts'
import { testedPolicy } from '../policy/check-descriptions.ts'
import { problem } from '../policy/schemas.ts'
import { flag, list, nullable, optional, text, time, typed, whole, word } from '../schema.ts'
import { candidate, key, message, publishing, replay, yes } from './fields.ts'
import type { proposalDocument } from './proposal-state.ts'
import {
  checked,
  counts,
  type Diff,
  diff,
  evaluating,
  evidence,
  head,
  proposal,
  publication,
  publishPlan,
  replica,
  signed,
} from './schemas.ts'

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

type ProposalDocument = ReturnType<typeof proposalDocument>

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
