-- Takes what one replica reports about the shadow with this sequence, and refuses what comes late.
-- Reports of replicas that have ended stay, so that a restart loses no evidence. A replica beyond the
-- bound is refused and so counts as missing: to drop another one would drop what it has seen.
--
-- KEYS: shadow, replicas, reports. ARGV: id, report, sequence, the most replicas, lifetime in ms.
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
