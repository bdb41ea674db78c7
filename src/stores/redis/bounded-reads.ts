import { loadScript, type RedisClient } from './redis.ts'

/*
 * Reads of what others may have written. Scripts leave what is too long in Redis: else a writer there
 * could exhaust the memory of every gateway and command.
 */

const textsScript = loadScript(new URL('./lua/read-texts.lua', import.meta.url))

/** The texts under these keys, each cut after one byte too many; `undefined` for a missing or empty one. */
export async function readTexts(
  redis: RedisClient,
  keys: readonly string[],
  maxBytes: number,
): Promise<readonly (string | undefined)[]> {
  const texts = (await redis.runScript(textsScript, keys, [maxBytes])) as (string | null)[]
  return keys.map((_, index) => texts[index] ?? undefined)
}

/** Reads the text of one key, for commands: an empty text and a key of another type are not missing. */
export async function readText(
  redis: RedisClient,
  key: string,
  maxBytes: number,
): Promise<string | undefined> {
  const text = await redis.run((commands) => commands.getrange(key, 0, maxBytes))
  if (text !== '') return text
  return (await redis.run((commands) => commands.exists(key))) === 0 ? undefined : ''
}

const fieldsScript = loadScript(new URL('./lua/read-fields.lua', import.meta.url))

/** As many as Lua unpacks without harm, and few enough that other commands do not wait. */
const fieldsAtATime = 500

/** These fields of a hash; `undefined` for those that are missing or too long. */
export async function readFields(
  redis: RedisClient,
  key: string,
  { fields, maxBytes }: { readonly fields: readonly string[]; readonly maxBytes: number },
): Promise<readonly (string | undefined)[]> {
  const found: (string | undefined)[] = []
  for (let from = 0; from < fields.length; from += fieldsAtATime) {
    const some = fields.slice(from, from + fieldsAtATime)
    const texts = (await redis.runBulk((commands) =>
      commands.eval(fieldsScript, 1, key, maxBytes, ...some),
    )) as (string | null)[]
    found.push(...some.map((_, index) => texts[index] ?? undefined))
  }
  return found
}

const hashScript = loadScript(new URL('./lua/read-hash.lua', import.meta.url))

/** A hash without the fields that are too long; empty when it has too many. */
export async function readHash(
  redis: RedisClient,
  key: string,
  { maxFields, maxBytes }: { readonly maxFields: number; readonly maxBytes: number },
): Promise<Readonly<Record<string, string>>> {
  const flat = (await redis.runScript(hashScript, [key], [maxFields, maxBytes])) as string[]
  const pairs = flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1] ?? '']] : []))
  return Object.fromEntries(pairs)
}

const listScript = loadScript(new URL('./lua/read-list.lua', import.meta.url))

/** The first `most` entries of a list that are not too long, among as many as `within`. */
export async function readList(
  redis: RedisClient,
  key: string,
  {
    within,
    most,
    maxBytes,
  }: { readonly within: number; readonly most: number; readonly maxBytes: number },
): Promise<readonly string[]> {
  const values = [within, most, maxBytes]
  return (await redis.runScript(listScript, [key], values)) as string[]
}

const membersScript = loadScript(new URL('./lua/read-members.lua', import.meta.url))

/** The members of a sorted set between two places that are not too long, with their scores. */
export async function readMembers(
  redis: RedisClient,
  key: string,
  { from, to, maxBytes }: { readonly from: number; readonly to: number; readonly maxBytes: number },
): Promise<readonly (readonly [member: string, score: number])[]> {
  const flat = (await redis.runScript(membersScript, [key], [from, to, maxBytes])) as string[]
  return flat.flatMap((member, at) =>
    at % 2 === 0 ? [[member, Number(flat[at + 1])] as const] : [],
  )
}
