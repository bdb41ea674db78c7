import { randomUUID } from 'node:crypto'
import { Fault } from '../../../kernel/errors.ts'
import type { Signed } from '../../../signing/statement.ts'
import { readText } from '../../redis/bounded-reads.ts'
import type { RedisClient } from '../../redis/redis.ts'
import { formatDocument, type PolicyDocument } from '../document/policy-document.ts'
import { maxHead, policyKeys } from '../document/policy-keys.ts'
import { parseShadowHead, type ShadowHead } from './shadow-head.ts'
import { createShadowReports } from './shadow-reports.ts'
import { endShadowScript, pushShadowScript } from './shadow-scripts.ts'

/** What Redis has as the shadow; its head is `undefined` when that is invalid. */
interface StoredShadow {
  readonly text: string
  readonly head: ShadowHead | undefined
}

/** What goes with the document of a shadow. */
export interface ShadowPush {
  readonly author: string
  readonly message: string
  /** The live revision that its files come from. */
  readonly base?: string | undefined
  readonly signed?: Signed | undefined
  /** The shadow that its author saw; `undefined` for none. */
  readonly over: StoredShadow | undefined
  /** Whether the stored document of this revision is broken. */
  readonly isReplacing: boolean
}

/** Repeats work that failed because Redis fails over. */
type Retry = <T>(work: () => Promise<T>) => Promise<T>

/** The shadow in Redis. Every method throws a Fault when Redis fails. */
export function createShadowStore(redis: RedisClient, retry: Retry) {
  const keys = policyKeys(redis.prefix)
  const reported = [keys.shadowReplicas, keys.shadowReports]

  return {
    async read(): Promise<StoredShadow | undefined> {
      const text = await retry(() => readText(redis, keys.shadow, maxHead))
      return text === undefined ? undefined : { text, head: parseShadowHead(text) }
    },
    /** What the replicas say about it, those that have ended included. */
    reports: () => retry(createShadowReports(redis).list),
    /** `undefined`: another shadow was pushed or ended meanwhile, and nothing was changed. */
    async push(
      document: PolicyDocument,
      { author, message, base, signed, over, isReplacing }: ShadowPush,
    ) {
      const { revision } = document
      const id = randomUUID()
      const named = [keys.shadow, keys.document(revision), keys.head, keys.history, ...reported]
      const touched = [...named, ...documentKeys(over)]
      const values = [
        over?.text ?? '',
        revision,
        formatDocument(document),
        isReplacing ? '1' : '0',
        JSON.stringify({ id, author, message, base, signed }),
        keys.channel,
      ]
      const [pushed, text] = (await retry(() =>
        redis.runBulk((commands) =>
          commands.eval(pushShadowScript, touched.length, ...touched, ...values),
        ),
      )) as [number, string]
      // A retry finds what the first attempt wrote.
      if (pushed !== 1 && !text.includes(id)) return undefined
      const head = parseShadowHead(text)
      if (head === undefined) throw new Fault('redis', { reason: `${keys.shadow} is invalid` })
      return head
    },
    /** Returns whether it ended; otherwise it was not there any more. */
    async end(shadow: StoredShadow) {
      const touched = [keys.shadow, keys.head, keys.history, ...reported, ...documentKeys(shadow)]
      const values = [shadow.text, keys.channel]
      return (await retry(() => redis.runScript(endShadowScript, touched, values))) === 1
    },
  }

  function documentKeys(shadow: StoredShadow | undefined): readonly string[] {
    return shadow?.head === undefined ? [] : [keys.document(shadow.head.revision)]
  }
}
