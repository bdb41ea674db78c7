import { Type } from '../../config/schema/type.ts'
import type { Head, ReplicaReport } from '../../stores/policies/policy-store.ts'
import { accessDiff } from '../policy/check-descriptions.ts'
import type { diffDocument } from '../policy/compare-access.ts'
import { replayed } from '../policy/evidence-descriptions.ts'
import { engine } from '../policy/schemas.ts'
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

export const signed = Type.Object({ statement: text, signatures: list(text) })
export const head = typed<Head>(
  Type.Object({
    ...{ revision: text, sequence: whole, author: optional(text), signed: optional(signed) },
  }),
)
export const counts = {
  evaluated: whole,
  wouldDeny: whole,
  wouldAllow: whole,
  failed: whole,
} as const

export const replica = typed<ReplicaReport>(
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
export const evaluating = Type.Object(
  {
    ...{ id: text, state: word('evaluating', 'failed', 'missing', 'lost', 'ended') },
    ...{ version: Type.Optional(text), evaluatingMs: number, problem: Type.Optional(text) },
    ...counts,
  },
  { title: 'EvaluatingReplica' },
)
export const evidence = {
  replicas: list(evaluating),
  ...{ ...counts, against: list(text), disagreements: list(disagreement) },
} as const
export const proposal = {
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

export type Diff = ReturnType<typeof diffDocument>
export const diff = typed<Diff>(accessDiff)

export const checked = {
  ...{ replay: optional(replayed), engine, diff: optional(diff) },
} as const
export const publishPlan = Type.Object({
  dryRun: Type.Literal(true),
  ok: Type.Boolean({ description: 'Whether it succeeds if every reporting replica loads it.' }),
  ...{ revision: text, publishes: flag, parent: nullable(text), ...checked },
  replicas: optional(list(Type.Object({ id: text, lost: flag }))),
})
export const publication = Type.Object({
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
