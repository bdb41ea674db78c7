-- Adds sessions of one user, and deletes the oldest of too many and those that expired. A value is
-- `seen expires` and the rest as JSON. The keys of a user expire with the last session.
--
-- KEYS: the user's sessions, their ids by issue time, all users by their latest expiry. ARGV: the
-- user, the most sessions of a user; then id, issue time, expiry and value of each.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for at = 3, #ARGV, 4 do
  if redis.call('HSETNX', KEYS[1], ARGV[at], ARGV[at + 3]) == 1 then
    redis.call('ZADD', KEYS[2], ARGV[at + 1], ARGV[at])
  end
  local latest = tonumber(redis.call('ZSCORE', KEYS[3], ARGV[1]) or 0)
  if latest < tonumber(ARGV[at + 2]) then redis.call('ZADD', KEYS[3], ARGV[at + 2], ARGV[1]) end
end
local surplus = redis.call('ZCARD', KEYS[2]) - ARGV[2]
while true do
  local id = redis.call('ZRANGE', KEYS[2], 0, 0)[1]
  if not id then break end
  local value = redis.call('HGET', KEYS[1], id) or ''
  local ends = tonumber(string.match(value, '^%d+ (%d+) ') or 0)
  if surplus <= 0 and ends > now then break end
  redis.call('HDEL', KEYS[1], id)
  redis.call('ZREM', KEYS[2], id)
  surplus = surplus - 1
end
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now)
local latest = redis.call('ZSCORE', KEYS[3], ARGV[1])
if latest then
  redis.call('PEXPIREAT', KEYS[1], latest)
  redis.call('PEXPIREAT', KEYS[2], latest)
end
local last = redis.call('ZREVRANGE', KEYS[3], 0, 0, 'WITHSCORES')[2]
if last then redis.call('PEXPIREAT', KEYS[3], last) end
return 0
