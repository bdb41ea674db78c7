-- One publication, atomically. Moves the head only from the revision that the publisher saw; an
-- existing document stays as it is, unless the publisher found it broken.
--
-- The sequence is one more than the head's and than any that a replica reported, and at least the
-- time in milliseconds: so it is above every sequence that was ever active, also after Redis lost
-- its data or was restored from an older copy. What no sequence can be does not count. The time of
-- the move is that of Redis: the clocks of those who publish may differ.
--
-- A shadow whose revision becomes live ends. The document of any other shadow stays.
--
-- KEYS: head, document, history, highest, shadow, its replicas, its reports; then documents that fall
-- out of the history.
-- ARGV: expected revision or '', revision, document, '1' to replace a broken one, move without
-- sequence and time, channel, how many moves the history keeps, head without revision and sequence.
{{sequenceFunction}}
{{timeFunction}}
{{shadowFunctions}}
local text = redis.call('GET', KEYS[1])
local head = text and cjson.decode(text) or { revision = '', sequence = 0 }
if head.revision ~= ARGV[1] then return { 0, text or '' } end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local highest = math.max(sequenceIn(head.sequence), sequenceIn(redis.pcall('GET', KEYS[4])))
local sequence = string.format('%.0f', math.max(now, highest + 1))
local at = isoTime(tonumber(time[1]), tonumber(time[2]))

-- A script is not rolled back. So what can fail comes before the head moves, and what has to hold
-- for the new head comes first; only tidying up and the announcement are left for afterwards.
redis.call('LLEN', KEYS[3])
if ARGV[4] == '1' then
  redis.call('DEL', KEYS[2])
end
redis.call('SET', KEYS[2], ARGV[3], 'NX')
redis.call('LPUSH', KEYS[3],
  '{"sequence":' .. sequence .. ',"at":"' .. at .. '",' .. string.sub(ARGV[5], 2))
local brief = '{"revision":' .. cjson.encode(ARGV[2]) .. ',"sequence":' .. sequence
text = brief .. ',' .. string.sub(ARGV[8], 2)
redis.call('SET', KEYS[1], text)
redis.call('LTRIM', KEYS[3], 0, ARGV[7] - 1)
local shadow = revisionIn(redis.pcall('GET', KEYS[5]))
if shadow == ARGV[2] then
  redis.call('DEL', KEYS[5], KEYS[6], KEYS[7])
end
local documents = string.sub(KEYS[2], 1, -1 - #ARGV[2])
for index = 8, #KEYS do
  if KEYS[index] ~= documents .. shadow then
    redis.call('DEL', KEYS[index])
  end
end
-- The head has moved, whether or not this user may use the channel; polling finds it.
redis.pcall('PUBLISH', ARGV[6], brief .. '}')
return { 1, text }
