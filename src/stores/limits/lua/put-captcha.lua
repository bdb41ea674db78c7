-- The sorted set has every outstanding id with its expiry, the hash has its digest. If one key is
-- lost, the other is worthless.
--
-- KEYS: the sorted set, the hash. ARGV: id, digest, lifetime in ms, how many to keep.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
{{forgetFunction}}

if redis.call('ZCARD', KEYS[1]) == 0 then redis.call('DEL', KEYS[2]) end
-- A few at a time: one client must not wait while a thousand old captchas are deleted.
forget(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now), 'LIMIT', 0, 100))
redis.call('ZADD', KEYS[1], string.format('%.0f', now + ARGV[3] * 1000), ARGV[1])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
local surplus = redis.call('ZCARD', KEYS[1]) - ARGV[4]
if surplus > 0 then
  forget(redis.call('ZRANGE', KEYS[1], 0, math.min(surplus, 100) - 1))
end
for index = 1, 2 do
  local left = math.max(redis.call('PTTL', KEYS[index]), ARGV[3])
  redis.call('PEXPIRE', KEYS[index], string.format('%.0f', left))
end
return 1
