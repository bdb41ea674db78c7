import { Fault } from '../../kernel/errors.ts'
import type { DocumentOf, RunOf } from '../operation.ts'
import { askOps } from './ask-ops.ts'
import type { status, upstreams } from './descriptions.ts'
import { opsAddress } from './ops-address.ts'

type Status = Exclude<DocumentOf<typeof status>, { readonly live: boolean }>

interface Version {
  readonly version: string
  readonly mode: string
}

/** Of `/readyz?verbose`. */
interface Verdict {
  readonly ready: boolean
  readonly revision: string | null
  readonly problems: readonly { readonly name: string; readonly problem: string }[]
  readonly configuration?: {
    readonly file: string
    readonly revision: string
    readonly since: string
    readonly lastError?: string
    readonly needRestart: readonly string[]
  }
  readonly workers?: readonly {
    readonly worker: number
    readonly state: string
    readonly configurationError?: string
  }[]
}

/** Shows what a running gateway serves by, and what is wrong with it. */
export const showStatus: RunOf<typeof status> = async ({ ops: named, live }, context) => {
  const ops = opsAddress(named, context)
  if (live) return { document: await liveAt(ops) }
  const version = await askOps(ops, '/version')
  const verdict = await askOps(ops, '/readyz?verbose')
  if (!isVersion(version.body) || !isVerdict(verdict.body)) throw notAGateway(ops)
  const document = toStatus(version.body, verdict.body)
  const { ready, configuration, workers } = document
  const isActive = configuration?.problem === undefined && !workers?.outdated.length
  return { document, outcome: ready && isActive ? 'done' : 'no' }
}

async function liveAt(ops: string) {
  const { body } = await askOps(ops, '/healthz')
  if (Object(body).status !== 'alive') throw notAGateway(ops)
  return { live: true }
}

function notAGateway(ops: string): Fault {
  return new Fault('gateway', {
    reason: `${ops} did not answer as the ops listener of a gateway; name it with --ops`,
  })
}

function isVersion(body: unknown): body is Version {
  const { version, mode } = Object(body)
  return typeof version === 'string' && typeof mode === 'string'
}

function isVerdict(body: unknown): body is Verdict {
  const { ready, problems } = Object(body)
  return typeof ready === 'boolean' && Array.isArray(problems)
}

function toStatus({ version, mode }: Version, verdict: Verdict): Status {
  const { ready, revision, problems, configuration, workers } = verdict
  return {
    version,
    mode,
    ready,
    problems,
    policy: { revision },
    ...(configuration && {
      configuration: {
        file: configuration.file,
        revision: configuration.revision,
        since: configuration.since,
        ...(configuration.lastError !== undefined && { problem: configuration.lastError }),
        needRestart: configuration.needRestart,
      },
    }),
    ...(workers && {
      workers: {
        count: workers.length,
        listening: workers.filter(({ state }) => state === 'listening').length,
        outdated: workers.flatMap(({ worker, configurationError: problem }) =>
          problem === undefined ? [] : [{ worker, problem }],
        ),
      },
    }),
  }
}

/** Shows the targets of a running gateway. */
export const showUpstreams: RunOf<typeof upstreams> = async ({ ops }, context) => {
  const { status: code, body } = await askOps(opsAddress(ops, context), '/upstreams')
  if (isReport(body)) return { document: body }
  const reason = `the gateway answered ${code} without a list of upstreams: it may be older than this command`
  throw new Fault('gateway', { reason })
}

function isReport(body: unknown): body is DocumentOf<typeof upstreams> {
  return Array.isArray(Object(body).upstreams)
}
