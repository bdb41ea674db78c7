import type { FeedLog } from '../../background/feed-log.ts'
import { createReloadStatus } from '../../background/reload-status.ts'
import { fetchKeys, type KeySource } from './fetch-keys.ts'
import type { Issuer } from './issuer.ts'
import type { IssuerKeySet } from './issuer-key-set.ts'
import { createKeySchedule, type KeySchedule, type KeyTimes } from './key-schedule.ts'

/** What operators see of an issuer. Nothing of it is secret. */
interface IssuerState {
  readonly name: string
  readonly issuer: string
  readonly keys: readonly { readonly kid: string | null; readonly algorithm: string }[]
  readonly skipped: IssuerKeySet['skipped']
  /** Whether its tokens can be verified: it has keys that are not too old. */
  readonly usable: boolean
  /** Since the last successful fetch; `null` before it. */
  readonly keyAgeSeconds: number | null
  readonly fetches: { readonly ok: number; readonly failed: number }
  readonly lastError: string | undefined
}

export interface OpenIssuers {
  readonly issuers: readonly { readonly issuer: Issuer; readonly keys: KeySchedule }[]
  /** What `/readyz?verbose` shows. */
  readonly states: () => readonly IssuerState[]
  readonly close: () => Promise<void>
}

type ConfiguredIssuer = Issuer & KeySource & KeyTimes

/**
 * Begins to fetch the keys of every issuer. Neither waits for them nor fails: a gateway starts while an
 * issuer is unreachable, and refuses nothing but its tokens.
 */
export function openIssuers(configured: readonly ConfiguredIssuer[], log: FeedLog): OpenIssuers {
  const open = configured.map((issuer) => openIssuer(issuer, log))
  return {
    issuers: open,
    states: () => open.map(({ state }) => state()),
    async close() {
      for (const { keys } of open) keys.close()
    },
  }
}

function openIssuer(issuer: ConfiguredIssuer, log: FeedLog) {
  const { name } = issuer
  const status = createReloadStatus((reason) =>
    log.warn({ issuer: name, reason }, 'issuer keys could not be fetched'),
  )
  let shown = ''

  function fetched(set: IssuerKeySet): void {
    status.loaded()
    if (status.succeeded()) log.info({ issuer: name }, 'issuer reachable again')
    const keys = keysOf(set)
    const text = JSON.stringify([keys, set.skipped])
    // Once for each change: fetches are minutes apart, but there may be many issuers.
    if (text !== shown) log.info({ issuer: name, keys, skipped: set.skipped }, 'issuer keys loaded')
    shown = text
  }

  const keys = createKeySchedule({
    ...issuer,
    fetch: (signal) => fetchKeys(issuer, signal),
    onFetched: fetched,
    onFailed: status.failed,
  })

  function state(): IssuerState {
    const set = keys.current()
    const age = keys.ageSeconds()
    return {
      name,
      issuer: issuer.issuer,
      keys: set === undefined ? [] : keysOf(set),
      skipped: set?.skipped ?? [],
      usable: set !== undefined,
      keyAgeSeconds: age === undefined ? null : Math.round(age),
      fetches: status.counts(),
      lastError: status.failure()?.text,
    }
  }
  return { issuer, keys, state }
}

function keysOf({ keys }: IssuerKeySet): IssuerState['keys'] {
  return keys.map(({ kid, algorithm }) => ({ kid: kid ?? null, algorithm }))
}
