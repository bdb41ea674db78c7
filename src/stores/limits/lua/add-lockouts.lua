-- The sorted set has the key of every open lock-out with its end, the hash has its record. The
-- counters say whether it is still open.
--
-- KEYS: the sorted set, the hash. ARGV: how many to keep; for each its key, kind, sealed text and rest
-- in ms.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
{{forgetFunction}}

if redis.call('ZCARD', KEYS[1]) == 0 then redis.call('DEL', KEYS[2]) end
-- A few at a time: no login must wait while thousands are deleted.
forget(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now), 'LIMIT', 0, 1000))
local longest = 0
for at = 2, #ARGV, 4 do
  longest = math.max(longest, tonumber(ARGV[at + 3]))
  redis.call('ZADD', KEYS[1], string.format('%.0f', now + ARGV[at + 3]), ARGV[at])
  redis.call('HSET', KEYS[2], ARGV[at], string.format('%s %.0f %s', ARGV[at + 1], now, ARGV[at + 2]))
end
local surplus = redis.call('ZCARD', KEYS[1]) - ARGV[1]
if surplus > 0 then forget(redis.call('ZRANGE', KEYS[1], 0, math.min(surplus, 1000) - 1)) end
for index = 1, 2 do
  local left = math.max(redis.call('PTTL', KEYS[index]), longest)
  redis.call('PEXPIRE', KEYS[index], string.format('%.0f', left))
end
return 1
