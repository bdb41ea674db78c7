/**
 * One publication, whole or not at all. Moves the head only from the revision that the publisher
 * saw; an existing document stays as it is, unless the publisher found it broken.
 *
 * The sequence is one more than the head's and than any that a replica reported, and at least the
 * time in milliseconds: so it is above everything that was ever in force, also after Redis lost
 * its data or was restored from an older copy.
 *
 * KEYS: head, document, history, highest; then documents that fall out of the history.
 * ARGV: expected revision or '', revision, document, '1' to replace a broken one, move without its
 * sequence, channel, how many moves the history keeps.
 */
export const publishScript = `
local text = redis.call('GET', KEYS[1])
local head = text and cjson.decode(text) or { revision = '', sequence = 0 }
if head.revision ~= ARGV[1] then return { 0, text or '' } end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local highest = tonumber(redis.call('GET', KEYS[4]) or 0) or 0
local sequence = string.format('%.0f', math.max(now, head.sequence + 1, highest + 1))

-- The one write that can fail comes first: a script is not rolled back.
redis.call('LPUSH', KEYS[3], '{"sequence":' .. sequence .. ',' .. string.sub(ARGV[5], 2))
redis.call('LTRIM', KEYS[3], 0, ARGV[7] - 1)
if ARGV[4] == '1' then
  redis.call('DEL', KEYS[2])
end
redis.call('SET', KEYS[2], ARGV[3], 'NX')
for index = 5, #KEYS do
  redis.call('DEL', KEYS[index])
end
text = '{"revision":' .. cjson.encode(ARGV[2]) .. ',"sequence":' .. sequence .. '}'
redis.call('SET', KEYS[1], text)
redis.call('PUBLISH', ARGV[6], text)
return { 1, text }
`
