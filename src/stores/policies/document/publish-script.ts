/** In Lua: a sequence that was stored, or 0 for what JavaScript could not tell from its successor. */
export const sequenceFunction = `
local function sequenceIn(stored)
  local number = tonumber(stored)
  return number and number >= 0 and number < 2 ^ 53 - 2 and number or 0
end
`

/**
 * One publication, atomically. Moves the head only from the revision that the publisher saw; an
 * existing document stays as it is, unless the publisher found it broken.
 *
 * The sequence is one more than the head's and than any that a replica reported, and at least the
 * time in milliseconds: so it is above every sequence that was ever active, also after Redis lost
 * its data or was restored from an older copy. What no sequence can be does not count.
 *
 * KEYS: head, document, history, highest; then documents that fall out of the history.
 * ARGV: expected revision or '', revision, document, '1' to replace a broken one, move without its
 * sequence, channel, how many moves the history keeps.
 */
export const publishScript = `
${sequenceFunction}
local text = redis.call('GET', KEYS[1])
local head = text and cjson.decode(text) or { revision = '', sequence = 0 }
if head.revision ~= ARGV[1] then return { 0, text or '' } end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local highest = math.max(sequenceIn(head.sequence), sequenceIn(redis.pcall('GET', KEYS[4])))
local sequence = string.format('%.0f', math.max(now, highest + 1))

-- A script is not rolled back. So what can fail comes before the head moves, and what has to hold
-- for the new head comes first; only tidying up and the announcement are left for afterwards.
redis.call('LLEN', KEYS[3])
if ARGV[4] == '1' then
  redis.call('DEL', KEYS[2])
end
redis.call('SET', KEYS[2], ARGV[3], 'NX')
redis.call('LPUSH', KEYS[3], '{"sequence":' .. sequence .. ',' .. string.sub(ARGV[5], 2))
text = '{"revision":' .. cjson.encode(ARGV[2]) .. ',"sequence":' .. sequence .. '}'
redis.call('SET', KEYS[1], text)
redis.call('LTRIM', KEYS[3], 0, ARGV[7] - 1)
for index = 5, #KEYS do
  redis.call('DEL', KEYS[index])
end
-- The head has moved, whether or not this user may use the channel; polling finds it.
redis.pcall('PUBLISH', ARGV[6], text)
return { 1, text }
`
