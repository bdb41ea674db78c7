import { sequenceFunction, shadowFunctions } from '../document/publish-script.ts'

/** In Lua: deletes the document of a shadow that ended, unless a move names it. */
const forgetFunction = `
local function forget(revision, document, head, history)
  if revision ~= '' and not isNamed(revision, head, history) then
    redis.call('DEL', document)
  end
end
`

/**
 * Pushes a shadow, atomically, over the one that its author saw. Counting begins anew: the reports
 * about the shadow before are deleted, and so is its document if no move names it.
 *
 * KEYS: shadow, document, head, history, replicas, reports; then the document of the shadow before.
 * ARGV: stored shadow that its author saw or '', revision, document, '1' to replace a broken one,
 * shadow without revision and sequence, channel.
 */
export const pushShadowScript = `
${sequenceFunction}
${shadowFunctions}
${forgetFunction}
local text = redis.call('GET', KEYS[1]) or ''
if text ~= ARGV[1] then return { 0, text } end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local highest = sequenceIn(string.match(text, '"sequence":(%d+)'))
local sequence = string.format('%.0f', math.max(now, highest + 1))

-- What can fail comes first: a script is not rolled back.
redis.call('LLEN', KEYS[4])
if ARGV[4] == '1' then
  redis.call('DEL', KEYS[2])
end
redis.call('SET', KEYS[2], ARGV[3], 'NX')
local before = revisionIn(text)
text = '{"revision":"' .. ARGV[2] .. '","sequence":' .. sequence .. ',' .. string.sub(ARGV[5], 2)
redis.call('SET', KEYS[1], text)
redis.call('DEL', KEYS[5], KEYS[6])
if before ~= ARGV[2] and KEYS[7] then
  forget(before, KEYS[7], KEYS[3], KEYS[4])
end
redis.pcall('PUBLISH', ARGV[6], 'shadow')
return { 1, text }
`

/**
 * Ends a shadow, atomically, if it is still the one that was seen.
 *
 * KEYS: shadow, head, history, replicas, reports; then its document. ARGV: stored shadow, channel.
 */
export const endShadowScript = `
${shadowFunctions}
${forgetFunction}
local text = redis.call('GET', KEYS[1])
if text ~= ARGV[1] then return 0 end
redis.call('LLEN', KEYS[3])
redis.call('DEL', KEYS[1], KEYS[4], KEYS[5])
if KEYS[6] then
  forget(revisionIn(text), KEYS[6], KEYS[2], KEYS[3])
end
redis.pcall('PUBLISH', ARGV[2], 'shadow')
return 1
`

/**
 * Takes what one replica reports about the shadow with this sequence, and refuses what comes late.
 * Reports of replicas that have ended stay, so that a restart loses no evidence. A replica beyond the
 * bound is refused and so counts as missing: to drop another one would drop what it has seen.
 *
 * KEYS: shadow, replicas, reports. ARGV: id, report, sequence, the most replicas, lifetime in ms.
 */
export const reportShadowScript = `
local text = redis.pcall('GET', KEYS[1])
if type(text) ~= 'string' then return 0 end
if string.match(text, '"sequence":(%d+)') ~= ARGV[3] then return 0 end
local known = redis.call('ZSCORE', KEYS[2], ARGV[1])
if not known and redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[4]) then return 0 end
local time = redis.call('TIME')
redis.call('ZADD', KEYS[2], time[1] * 1000 + math.floor(time[2] / 1000), ARGV[1])
redis.call('HSET', KEYS[3], ARGV[1], ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[5])
redis.call('PEXPIRE', KEYS[3], ARGV[5])
return 1
`
