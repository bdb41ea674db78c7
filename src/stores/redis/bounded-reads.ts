import type { RedisClient } from './redis.ts'

/*
 * Reads of what others may have written. Scripts leave what is too long in Redis: else a writer there
 * could exhaust the memory of every gateway and command.
 */

const textsScript = `
local texts = {}
for index, key in ipairs(KEYS) do
  local text = redis.pcall('GETRANGE', key, 0, ARGV[1])
  texts[index] = type(text) == 'string' and text ~= '' and text
end
return texts
`

/** The texts under these keys, each cut after one byte too many; `undefined` for a missing or empty one. */
export async function readTexts(
  redis: RedisClient,
  keys: readonly string[],
  maxBytes: number,
): Promise<readonly (string | undefined)[]> {
  const texts = (await redis.runScript(textsScript, keys, [maxBytes])) as (string | null)[]
  return keys.map((_, index) => texts[index] ?? undefined)
}

/** The same of one key, for commands: an empty text and a key of another type are no missing key. */
export async function readText(
  redis: RedisClient,
  key: string,
  maxBytes: number,
): Promise<string | undefined> {
  const text = await redis.run((commands) => commands.getrange(key, 0, maxBytes))
  if (text !== '') return text
  return (await redis.run((commands) => commands.exists(key))) === 0 ? undefined : ''
}

const fieldsScript = `
local texts = redis.call('HMGET', KEYS[1], unpack(ARGV, 2))
for index, text in ipairs(texts) do
  texts[index] = text and #text <= tonumber(ARGV[1]) and text
end
return texts
`

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

const hashScript = `
-- A Redis user of version 0.1.0 may lack the right to HLEN.
local count = redis.pcall('HLEN', KEYS[1])
if type(count) == 'number' and count > tonumber(ARGV[1]) then return {} end
local all = redis.call('HGETALL', KEYS[1])
if #all > 2 * ARGV[1] then return {} end
local kept = {}
for index = 1, #all, 2 do
  if #all[index] + #all[index + 1] <= tonumber(ARGV[2]) then
    kept[#kept + 1] = all[index]
    kept[#kept + 1] = all[index + 1]
  end
end
return kept
`

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

const listScript = `
local kept = {}
for _, text in ipairs(redis.call('LRANGE', KEYS[1], 0, ARGV[1] - 1)) do
  if #text <= tonumber(ARGV[3]) then kept[#kept + 1] = text end
  if #kept == tonumber(ARGV[2]) then break end
end
return kept
`

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

const membersScript = `
local kept = {}
local found = redis.call('ZRANGE', KEYS[1], ARGV[1], ARGV[2], 'WITHSCORES')
for at = 1, #found, 2 do
  if #found[at] <= tonumber(ARGV[3]) then
    kept[#kept + 1] = found[at]
    kept[#kept + 1] = found[at + 1]
  end
end
return kept
`

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
