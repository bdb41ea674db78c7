-- KEYS: the sorted set, the hash, as in add-lockouts.lua. ARGV: the prefix of counters. Returns key, end and
-- record of each open lock-out.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local found = {}
for _, key in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], string.format('(%.0f', now), '+inf')) do
  local state = redis.call('GET', ARGV[1] .. key) or ''
  local till = tonumber(string.match(state, ' (%d+)$'))
  if till and now < till then
    found[#found + 1] = key
    found[#found + 1] = string.format('%.0f', till)
    found[#found + 1] = redis.call('HGET', KEYS[2], key) or ''
  end
end
return found
