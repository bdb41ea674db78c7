-- Pushes a shadow, atomically, over the one that its author saw. Counting begins anew: the reports
-- about the shadow before are deleted, and so is its document if no move names it.
--
-- KEYS: shadow, document, head, history, replicas, reports; then the document of the shadow before.
-- ARGV: stored shadow that its author saw or '', revision, document, '1' to replace a broken one,
-- shadow without revision and sequence, channel.
{{sequenceFunction}}
{{shadowFunctions}}
{{forgetFunction}}
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
