import { randomUUID } from 'node:crypto'
import { loadScript, type RedisClient, type RedisSettings } from '../redis/redis.ts'
import { createSubscriber, type RedisSubscriber } from '../redis/redis-subscriber.ts'
import {
  fromRow,
  MAX_AHEAD_MS,
  PAGE,
  type RevocationRow,
  type RevocationStore,
  toRow,
} from './revocation-store.ts'

/** The prefix has a hash tag, so one script can use all of these keys on a Redis Cluster. */
function revocationKeys(prefix: string) {
  return {
    /** Name to `moment until user`. */
    entries: `${prefix}revoked`,
    /** Names by sequence. */
    order: `${prefix}revoked:order`,
    /** Names by expiry. */
    ends: `${prefix}revoked:ends`,
    /** The id of the list and its last sequence. */
    head: `${prefix}revoked:head`,
    channel: `${prefix}revoked`,
  } as const
}

const appendScript = loadScript(new URL('./lua/append-revocations.lua', import.meta.url))
const readScript = loadScript(new URL('./lua/read-revocations.lua', import.meta.url))

/** The revocation list that replicas share. Messages on its channel are only hints. */
export function createRedisRevocations(
  redis: RedisClient,
  settings: RedisSettings,
): RevocationStore {
  const keys = revocationKeys(redis.prefix)
  const touched = [keys.entries, keys.order, keys.ends, keys.head]
  let subscriber: RedisSubscriber | undefined

  async function ask(list: string, sequence: string): Promise<[string, string, ...string[]]> {
    const answer = await redis.runScript(readScript, touched, [list, sequence, PAGE])
    return answer as [string, string, ...string[]]
  }

  return {
    name: 'redis',
    async read(after) {
      const { list: wanted = '', sequence = '0' } = after ?? {}
      const [list, last, ...found] = await ask(wanted, sequence)
      if (after !== undefined && (list !== wanted || Number(last) < Number(sequence))) {
        return undefined
      }

      const rows = triples(found)
      const reached = rows.at(-1)?.sequence ?? sequence
      return {
        revocations: rows.flatMap(({ row }) => fromRow(row) ?? []),
        position: { list, sequence: reached },
        more: rows.length === PAGE,
      }
    },
    async append(revocations, made) {
      const values = revocations.map(toRow).flatMap(({ name, userId, moment, until }) => {
        return [name, userId, moment, until]
      })
      const fixed = [keys.channel, randomUUID(), made, PAGE, MAX_AHEAD_MS]
      await redis.runScript(appendScript, touched, [...fixed, ...values])
    },
    async end() {
      const [list, sequence] = await ask('', '1')
      return { list, sequence }
    },
    watch({ onHint, onReconnect }) {
      redis.onReady(onReconnect)
      subscriber = createSubscriber(settings, { channel: keys.channel, onHint })
    },
    check: async () => subscriber?.check(),
    async close() {
      subscriber?.close()
    },
  }
}

function triples(flat: readonly string[]) {
  const rows: { readonly sequence: string; readonly row: RevocationRow }[] = []
  for (let at = 0; at < flat.length; at += 3) {
    const [name = '', sequence = '', value = ''] = flat.slice(at, at + 3)
    const [moment, until, userId = ''] = value.split(' ')
    rows.push({ sequence, row: { name, userId, moment: Number(moment), until: Number(until) } })
  }
  return rows
}
