import { Fault } from '../../kernel/errors.ts'
import type { Run } from '../command.ts'
import { formatTable, json } from '../format.ts'
import type { Io } from '../io.ts'
import { askOps } from './ask-ops.ts'
import { opsAddress } from './ops-address.ts'
import type { statusSpec } from './specs.ts'

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
export const showStatus: Run<typeof statusSpec> = async ({ options }, io) => {
  const ops = opsAddress(options, io)
  if (options.live) return showLive(ops, options, io)
  const version = await askOps(ops, '/version')
  const verdict = await askOps(ops, '/readyz?verbose')
  if (!isVersion(version.body) || !isVerdict(verdict.body)) {
    throw notAGateway(ops)
  }
  const status = toStatus(version.body, verdict.body)
  io.out(options.output === 'json' ? json(status) : formatTable(toRows(status)))
  const isRejected = status.configuration?.problem !== undefined
  return status.ready && !isRejected && !status.workers?.outdated.length ? 0 : 1
}

async function showLive(
  ops: string,
  { output }: { readonly output: string },
  io: Io,
): Promise<number> {
  const { body } = await askOps(ops, '/healthz')
  const live = Object(body).status === 'alive'
  if (!live) throw notAGateway(ops)
  io.out(output === 'json' ? json({ live }) : 'live\n')
  return 0
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

function toStatus({ version, mode }: Version, verdict: Verdict) {
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
        problem: configuration.lastError,
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

function toRows(status: ReturnType<typeof toStatus>): readonly (readonly string[])[] {
  const { version, mode, ready, problems, policy, configuration, workers } = status
  const why = problems.map(({ name, problem }) => `${name}: ${problem}`).join('; ')
  const rows = [
    ['version', version],
    ['mode', mode],
    ['ready', ready ? 'yes' : `no (${why})`],
    ['policy', policy.revision ?? '-'],
  ]
  if (workers !== undefined) rows.push(['workers', `${workers.listening} of ${workers.count}`])
  for (const { worker, problem } of workers?.outdated ?? []) {
    rows.push(['outdated', `worker ${worker} keeps an older configuration: ${problem}`])
  }
  if (configuration === undefined) return rows
  const { file, revision, since, problem, needRestart } = configuration
  rows.push(['configuration', `${revision} (${file}, since ${since})`])
  if (problem !== undefined) rows.push(['rejected', problem])
  if (needRestart.length > 0) rows.push(['needs restart', needRestart.join(', ')])
  return rows
}
