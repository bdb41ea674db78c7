import type { FeedLog } from '../../background/feed-log.ts'
import { createReloadStatus } from '../../background/reload-status.ts'
import { fetchKeys, type KeySource } from './fetch-keys.ts'
import type { Issuer } from './issuer.ts'
import type { IssuerKeySet } from './issuer-key-set.ts'
import { createKeySchedule, type KeyTimes } from './key-schedule.ts'

export type OpenIssuers = ReturnType<typeof openIssuers>

type ConfiguredIssuer = Issuer & KeySource & KeyTimes

/**
 * Begins to fetch the keys of every issuer. Neither waits for them nor fails: a gateway starts while an
 * issuer is unreachable, and refuses nothing but its tokens.
 */
export function openIssuers(configured: readonly ConfiguredIssuer[], log: FeedLog) {
  const open = configured.map((issuer) => openIssuer(issuer, log))
  return {
    issuers: open,
    /** What `/readyz?verbose` shows. */
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

  /** What operators see of it. Nothing of it is secret. */
  function state() {
    const set = keys.current()
    const age = keys.ageSeconds()
    return {
      name,
      issuer: issuer.issuer,
      keys: set === undefined ? [] : keysOf(set),
      skipped: set?.skipped ?? [],
      /** Whether its tokens can be verified: it has keys that are not too old. */
      usable: set !== undefined,
      /** Since the last successful fetch; `null` before it. */
      keyAgeSeconds: age === undefined ? null : Math.round(age),
      fetches: status.counts(),
      lastError: status.failure()?.text,
    }
  }
  return { issuer, keys, state }
}

function keysOf({ keys }: IssuerKeySet) {
  return keys.map(({ kid, algorithm }) => ({ kid: kid ?? null, algorithm }))
}
