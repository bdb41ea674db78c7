import type { JsonWebKey } from 'node:crypto'
import type { JWK } from 'jose'
import { isRecord } from '../../kernel/json.ts'
import { parseObject } from '../compact-form.ts'
import { WeakKey } from '../weak-keys.ts'
import type { IssuerAlgorithm } from './issuer.ts'
import { type IssuerKey, readIssuerKeys } from './issuer-key.ts'

/** The keys of one issuer. Immutable: a fetch creates a new set. */
export interface IssuerKeySet {
  readonly keys: readonly IssuerKey[]
  /** Keys that were left out, with the reason. */
  readonly skipped: readonly { readonly kid: string | undefined; readonly reason: string }[]
  /** `unknown`: no key has this `kid`, so it may be newer than the set. `undefined`: no key fits. */
  choose(kid: string | undefined, algorithm: unknown): IssuerKey | 'unknown' | undefined
  /** Whether a key that verified a token before is still one of them. */
  has(identity: string): boolean
}

/** More keys make each fetch expensive: with 20,000, jose took 19 ms for each token. */
const maxKeys = 100

/**
 * Reads a key set (RFC 7517 5). Keys that cannot be used are left out, because sets may also hold
 * keys for other purposes. Throws `WeakKey` if it is not a key set or if no usable key is left.
 */
export async function parseIssuerKeySet(
  bytes: Uint8Array,
  accepted: readonly IssuerAlgorithm[],
): Promise<IssuerKeySet> {
  const list = parseObject(bytes)?.['keys']
  if (!Array.isArray(list)) throw new WeakKey('not a key set: expected JSON with "keys"')
  if (list.length > maxKeys) {
    throw new WeakKey(`${list.length} keys; at most ${maxKeys} are accepted`)
  }
  const found: IssuerKey[] = []
  const skipped: { kid: string | undefined; reason: string }[] = []
  for (const jwk of list) {
    try {
      found.push(...(await readIssuerKeys(asJwk(jwk), accepted)))
    } catch (error) {
      if (!(error instanceof WeakKey)) throw error
      skipped.push({ kid: shownKid(jwk), reason: error.message })
    }
  }
  const keys = withoutConfusion(found, skipped)
  if (keys.length === 0) throw new WeakKey(`no usable key${firstReason(skipped)}`)
  return keySet(keys, skipped)
}

function asJwk(value: unknown): JsonWebKey & JWK {
  if (isRecord(value)) return value as JWK
  throw new WeakKey('not a JWK: expected a JSON object')
}

/** Two keys with one name: a token could choose between them, so neither is used. */
function withoutConfusion(
  found: readonly IssuerKey[],
  skipped: { kid: string | undefined; reason: string }[],
): readonly IssuerKey[] {
  const byName = Map.groupBy(found, ({ kid, algorithm }) => JSON.stringify([kid, algorithm]))
  return [...byName.values()].flatMap((same) => {
    const distinct = same.filter(
      ({ identity }, at) => same.findIndex((other) => other.identity === identity) === at,
    )
    if (distinct.length === 1 || distinct[0]?.kid === undefined) return distinct
    skipped.push({ kid: distinct[0].kid, reason: 'several keys have this kid' })
    return []
  })
}

function keySet(keys: readonly IssuerKey[], skipped: IssuerKeySet['skipped']): IssuerKeySet {
  const byKid = Map.groupBy(keys, ({ kid }) => kid)
  const identities = new Set(keys.map(({ identity }) => identity))
  return {
    keys,
    skipped,
    choose(kid, algorithm) {
      const named = kid === undefined ? keys : byKid.get(kid)
      if (named === undefined) return 'unknown'
      const fitting = named.filter((key) => key.algorithm === algorithm)
      // Without a `kid` only a set with one fitting key says which one is meant.
      return fitting.length === 1 ? fitting[0] : undefined
    },
    has: (identity) => identities.has(identity),
  }
}

function shownKid(jwk: unknown): string | undefined {
  const { kid } = (jwk ?? {}) as { kid?: unknown }
  return typeof kid === 'string' ? kid.slice(0, 64) : undefined
}

function firstReason(skipped: IssuerKeySet['skipped']): string {
  const [first] = skipped
  return first === undefined ? '' : `: ${first.reason}`
}
