import { Type } from '../../config/schema/type.ts'
import { question } from '../operation.ts'
import { flag, list, nullable, text, time, whole, word } from '../schema.ts'

const ops = {
  value: 'URL',
  description:
    'ops listener of the gateway, such as http://10.0.0.5:9100 (default: ops.host and ops.port of the configuration)',
  local: true,
} as const

export const version = question({
  name: 'version',
  summary: 'print the version, commit, Node version and platform',
  input: {},
  document: Type.Object({ version: text, commit: text, node: text, platform: text }),
})

export const status = question({
  name: 'status',
  summary: 'show version, readiness, policy and configuration of a running gateway',
  input: {
    live: {
      description: 'only whether the gateway responds; it need not be ready',
      local: true,
    },
    ops,
  },
  document: Type.Union([
    Type.Object({ live: flag }),
    Type.Object({
      ...{ version: text, mode: text, ready: flag },
      problems: list(Type.Object({ name: text, problem: text })),
      policy: Type.Object({ revision: nullable(text) }),
      configuration: Type.Optional(
        Type.Object({
          ...{ file: text, revision: text, since: text },
          problem: Type.Optional(text),
          needRestart: list(text),
        }),
      ),
      workers: Type.Optional(
        Type.Object({
          ...{ count: whole, listening: whole },
          outdated: list(Type.Object({ worker: whole, problem: text })),
        }),
      ),
    }),
  ]),
})

export const upstreams = question({
  name: 'upstreams',
  summary: 'show the targets of a running gateway: state, load, ejections and last errors',
  input: { ops },
  document: Type.Object({
    upstreams: list(
      Type.Object({
        ...{ name: text, balance: text },
        targets: list(
          Type.Object({
            target: Type.String({ description: 'The address too if the name has several.' }),
            weight: Type.Integer({ description: 'Its part of the requests beside the others.' }),
            sharePercent: Type.Integer({ description: 'Below 100 while it warms up.' }),
            circuit: word('closed', 'half-open', 'open'),
            healthy: flag,
            ejectedMs: Type.Integer({ description: '0: it is not ejected.' }),
            ...{ ejections: whole, recentRequests: whole, recentFailures: whole },
            ...{ outstanding: whole, tunnels: whole, connections: whole },
            lastError: nullable(Type.Object({ at: text, message: text })),
          }),
        ),
      }),
    ),
  }),
})

const targetOut = Type.Object(
  {
    ...{ upstream: text, target: text },
    state: word('circuit-open', 'circuit-half-open', 'unhealthy', 'ejected'),
  },
  { title: 'TargetOut' },
)

/** What a replica says of itself. */
export const facts = Type.Object(
  {
    ...{ startedAt: time, mode: text },
    worker: Type.Optional(Type.Integer({ description: 'Absent without several workers.' })),
    ready: flag,
    configuration: Type.Optional(Type.Object({ revision: text, since: time, rejected: flag })),
    clock: Type.Optional(
      Type.Object({
        aheadMs: Type.Number({ description: 'Negative: behind.' }),
        withinMs: Type.Number({ description: 'The true value is within this of aheadMs.' }),
        source: word('Redis', 'the database'),
      }),
    ),
    keys: Type.Object({
      signer: nullable(text, 'null: no key signs.'),
      ids: list(text),
      ...{ count: whole, since: time, rejected: flag },
    }),
    certificate: Type.Optional(Type.Object({ names: text, notAfter: text, rejected: flag })),
    upstreams: Type.Object({
      ...{ targets: whole, out: whole },
      named: list(targetOut),
    }),
    outcomes: Type.Record(Type.String({ pattern: '' }), whole, {
      description: 'Finished requests since the start.',
    }),
  },
  { title: 'ReplicaFacts' },
)

export const fleet = question({
  name: 'fleet',
  summary: 'show every running gateway: version, policy, keys, certificate, targets and requests',
  input: { ops },
  document: Type.Object({
    source: Type.Enum(['redis', 'gateway'], {
      description:
        'redis: all that report there; gateway: the processes of the gateway that answered.',
    }),
    revision: nullable(text, 'null: nothing is published.'),
    converged: flag,
    counts: Type.Object({ current: whole, behind: whole, stale: whole, lost: whole }),
    replicas: list(
      Type.Object(
        {
          id: text,
          state: Type.Enum(['current', 'behind', 'stale', 'lost']),
          ...{ revision: nullable(text), version: text },
          ageSeconds: Type.Number({ description: 'Since its last report.' }),
          lastError: Type.Optional(text),
          facts: Type.Optional(facts),
        },
        { title: 'Replica' },
      ),
    ),
  }),
})
