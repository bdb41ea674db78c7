-- Takes one report. By the clock of Redis: those of the replicas may differ.
--
-- A replica stays known until it shuts down or its last report is older than `policy.replicaMemory`:
-- one that lost Redis still decides by the policy it has, and must not vanish from the list. At most `most` are
-- kept, and those that have been silent for longest go first.
--
-- KEYS: known, reports, highest; then replica and index of version 0.1.0, whose replicas and
-- commands know nothing else; then what exists while a console watches decisions, which the result
-- says.
-- ARGV: id, report, sequence, for how many ms a replica is known, the most of them, for how many ms
-- version 0.1.0 lists one.
{{sequenceFunction}}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[1], now, ARGV[1])
local old = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[4], 'LIMIT', 0, 100)
local over = redis.call('ZCARD', KEYS[1]) - tonumber(ARGV[5])
if #old == 0 and over > 0 then
  old = redis.call('ZRANGE', KEYS[1], 0, math.min(over, 100) - 1)
end
if #old > 0 then
  redis.call('ZREM', KEYS[1], unpack(old))
  redis.call('HDEL', KEYS[2], unpack(old))
end
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('PEXPIRE', KEYS[2], ARGV[4])

redis.call('SET', KEYS[4], ARGV[2], 'PX', ARGV[6])
redis.call('ZADD', KEYS[5], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[5], '-inf', now - ARGV[6])
redis.call('PEXPIRE', KEYS[5], ARGV[6])

if tonumber(ARGV[3]) > sequenceIn(redis.pcall('GET', KEYS[3])) then
  redis.call('SET', KEYS[3], ARGV[3])
end
return redis.call('EXISTS', KEYS[6])
