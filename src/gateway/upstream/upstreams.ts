import { hasSameSettings } from './same-settings.ts'
import {
  createUpstream,
  type Upstream,
  type UpstreamReports,
  type UpstreamSettings,
} from './upstream.ts'

export type { Upstream } from './upstream.ts'

export interface Upstreams {
  get(name: string): Upstream
  find(name: string): Upstream | undefined
  readonly all: readonly Upstream[]
  /** Retires those that `next` does not have. */
  retireUnlessIn(next: Upstreams): void
  close(): Promise<void>
}

/**
 * Each upstream has its own connections, so that a dead one does not slow down others. An upstream of
 * `previous` with the same settings is kept, with its connections, circuits and health.
 */
export function createUpstreams(
  settings: Readonly<Record<string, UpstreamSettings>>,
  reports?: UpstreamReports,
  previous?: Upstreams,
): Upstreams {
  const upstreams = createEach(settings, reports, previous)

  return {
    get(name) {
      const found = upstreams.get(name)
      if (found === undefined) throw new Error(`no upstream is named ${name}`)
      return found
    },
    find: (name) => upstreams.get(name),
    all: [...upstreams.values()],
    retireUnlessIn(next) {
      for (const [name, upstream] of upstreams) {
        if (next.find(name) !== upstream) upstream.retire()
      }
    },
    async close() {
      for (const upstream of upstreams.values()) upstream.close()
    },
  }
}

/** Apart from the above, whose functions would keep `previous` in memory, and with it all before it. */
function createEach(
  settings: Readonly<Record<string, UpstreamSettings>>,
  reports: UpstreamReports | undefined,
  previous: Upstreams | undefined,
): ReadonlyMap<string, Upstream> {
  return new Map(
    Object.entries(settings).map(([name, one]) => {
      const before = previous?.find(name)
      const isKept = before !== undefined && hasSameSettings(before.settings, one)
      return [name, isKept ? before : createUpstream(name, one, { reports, previous: before })]
    }),
  )
}
