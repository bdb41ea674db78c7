-- Deletes counters and their records, if one of them is locked out: what ends nothing changes nothing.
-- KEYS: the sorted set, the hash, then the counters. ARGV: the names of the counters without the prefix.
-- Returns those that were locked out.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ended = {}
for index = 1, #ARGV do
  local till = tonumber(string.match(redis.call('GET', KEYS[index + 2]) or '', ' (%d+)$'))
  if till and now < till then ended[#ended + 1] = ARGV[index] end
end
if #ended == 0 then return ended end
for index = 1, #ARGV do
  redis.call('DEL', KEYS[index + 2])
  redis.call('ZREM', KEYS[1], ARGV[index])
  redis.call('HDEL', KEYS[2], ARGV[index])
end
return ended
