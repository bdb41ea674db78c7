import type { LookupReports } from './name-lookups.ts'
import { createUpstream, type Upstream, type UpstreamSettings } from './upstream.ts'

export type { Upstream } from './upstream.ts'

export interface Upstreams {
  get(name: string): Upstream
  readonly all: readonly Upstream[]
  close(): Promise<void>
}

/** Each upstream has its own connections, so that a dead one does not slow down others. */
export function createUpstreams(
  settings: Readonly<Record<string, UpstreamSettings>>,
  lookupReports?: LookupReports,
): Upstreams {
  const upstreams = new Map(
    Object.entries(settings).map(([name, one]) => [
      name,
      createUpstream(name, one, { lookupReports }),
    ]),
  )

  return {
    get(name) {
      const found = upstreams.get(name)
      if (found === undefined) throw new Error(`no upstream is named ${name}`)
      return found
    },
    all: [...upstreams.values()],
    async close() {
      for (const upstream of upstreams.values()) upstream.close()
    },
  }
}
