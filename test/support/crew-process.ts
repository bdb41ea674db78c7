import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts'
import { type RecordingUpstream, startRecordingUpstream } from './recording-upstream.ts'
import { testSecret } from './tokens.ts'

/** Where two workers find what they share. */
export interface SharedStores {
  readonly redisUrl: string
  readonly databaseUrl: string
}

/** A gateway of several workers in processes of its own, with an upstream behind it. */
export interface CrewProcess extends GatewayProcess {
  readonly upstream: RecordingUpstream
  /** The processes of the workers that listen, by number. */
  workerPids(): Promise<ReadonlyMap<number, number>>
  /** Ends it, if it has not ended, and what belongs to it. */
  clear(): Promise<void>
}

export interface CrewOptions {
  /** Laid over the configuration, section by section. */
  readonly config?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly ownGroup?: boolean
  /** A module that is loaded before the gateway, in every process of it. */
  readonly preload?: string
}

interface VerboseReadiness {
  readonly workers: readonly { worker: number; pid?: number; state: string }[]
}

/** Starts it and waits until all workers listen. */
export async function startCrew(
  { redisUrl, databaseUrl }: SharedStores,
  { config = {}, ownGroup = false, preload }: CrewOptions = {},
): Promise<CrewProcess> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-crew-'))
  const upstream = await startRecordingUpstream()
  const base: Record<string, Record<string, unknown>> = {
    application: {
      host: '127.0.0.1',
      port: 0,
      dataDirectory: inject('sharedData'),
      workers: 2,
    },
    ops: { port: 0 },
    jwt: { secret: testSecret },
    database: { url: databaseUrl },
    redis: { url: redisUrl, prefix: `{${directory.slice(-6)}}:` },
    policy: { directory: join(process.cwd(), 'policies') },
    revocation: { snapshot: join(directory, 'revocations.snapshot') },
    shutdown: { graceMs: 0, deadlineMs: 5000 },
    upstreams: { backend: { targets: [upstream.origin] } },
  }
  for (const [section, values] of Object.entries(config)) {
    base[section] = { ...base[section], ...values }
  }
  const gateway = await startGatewayProcess(
    join(directory, 'postern.yaml'),
    { ...base, routes: [{ path: '/', upstream: 'backend' }] },
    { ownGroup, ...(preload !== undefined && { preload }) },
  )
  return {
    ...gateway,
    upstream,
    async clear() {
      await gateway.stop()
      await upstream.close()
      await rm(directory, { recursive: true, force: true })
    },
    async workerPids() {
      const answer = await fetch(`http://127.0.0.1:${gateway.opsPort}/readyz?verbose`)
      const { workers } = (await answer.json()) as VerboseReadiness
      return new Map(
        workers.flatMap(({ worker, pid, state }) =>
          pid !== undefined && state === 'listening' ? [[worker, pid] as const] : [],
        ),
      )
    },
  }
}

/** Whether there is still such a process. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
