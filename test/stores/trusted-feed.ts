import { onTestFinished } from 'vitest'
import { createLivePolicies } from '../../src/policy/live.ts'
import { formatStatement, type Signed, type Statement } from '../../src/signing/statement.ts'
import type { Trust } from '../../src/signing/trust.ts'
import { formatDocument } from '../../src/stores/policies/document/policy-document.ts'
import { openPolicySource } from '../../src/stores/policies/open-policy-source.ts'
import type { Move, PolicyDocument } from '../../src/stores/policies/policy-store.ts'
import { type Person, signedBy } from '../signing/key-pairs.ts'
import { prefix } from '../support/published-policies.ts'
import type { RedisServer } from '../support/redis-server.ts'

/** A document that some people signed, and what its successor names as its predecessor. */
interface SignedPolicy {
  readonly document: PolicyDocument
  readonly signed: Signed
  readonly after: { readonly revision: string; readonly serial: number }
}

export function signPolicy(
  people: readonly Person[],
  document: PolicyDocument,
  statement: Partial<Statement> & Pick<Statement, 'serial'>,
): SignedPolicy {
  const { revision, checksum, author, message, at } = document
  const parts = { revision, document: checksum, author, message, at, after: null, ...statement }
  return { document, signed: signedBy(people, parts), after: { revision, serial: parts.serial } }
}

/** Writes to Redis what anyone can write who reaches it, and announces it. */
export async function plant(
  { client }: Pick<RedisServer, 'client'>,
  { document, sequence, signed }: PlantedHead,
): Promise<void> {
  const { revision } = document
  await client.set(`${prefix}policy:rev:${revision}`, formatDocument(document))
  const head = { revision, sequence, ...(signed !== undefined && { signed }) }
  await client.set(`${prefix}policy:head`, JSON.stringify(head))
  await client.publish(`${prefix}policy`, '{}')
}

interface PlantedHead {
  readonly document: PolicyDocument
  readonly sequence: number
  readonly signed?: unknown
}

/** The text of another statement with the same signatures. */
export function altered(signed: Signed, changes: Partial<Statement>): Signed {
  const statement = { ...(JSON.parse(signed.statement) as Statement), ...changes }
  return { ...signed, statement: formatStatement(statement) }
}

interface FeedOptions {
  readonly trust?: Trust
  readonly snapshot?: string
  readonly recorded?: () => Promise<readonly Move[]>
}

/** The policies of a gateway, as `serve` opens them. */
export async function openFeed(
  redis: Pick<RedisServer, 'url'>,
  { trust, snapshot, recorded }: FeedOptions,
) {
  const lines: { readonly text: string; readonly fields: Record<string, unknown> }[] = []
  const note = (fields: object, text: string) => void lines.push({ text, fields: { ...fields } })
  const live = createLivePolicies()
  const source = await openPolicySource({
    policy: {
      source: 'redis',
      directory: '',
      pollSeconds: 1,
      replicaMemory: 60,
      ...(snapshot !== undefined && { snapshot }),
    },
    redis: { url: redis.url, prefix, connectTimeoutMs: 2000, commandTimeoutMs: 2000 },
    version: 'test',
    log: { info: note, warn: note },
    ...{ live, trust },
    ...(recorded !== undefined && { recorded }),
  })
  let isOpen = true
  const close = async () => {
    if (isOpen) await source.close()
    isOpen = false
  }
  onTestFinished(close)
  return {
    ...source,
    close,
    lines,
    rejected: (reason: string) => source.state().trust?.rejected[reason] ?? 0,
  }
}
