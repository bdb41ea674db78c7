-- Stores a proposal, unless another one of its revision has come up since the proposer looked. A new
-- statement drops the signatures of the old one: they are about something else.
--
-- KEYS: proposal, its document, index.
-- ARGV: expected statement or '', revision, statement, about, document, for how many ms, the most
-- proposals; then field and value of each signature.
local present = redis.call('HGET', KEYS[1], 'statement') or ''
-- After a lost reply the same proposal comes again.
if present == ARGV[3] then return 'done' end
if present ~= ARGV[1] then return 'changed' end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now)
if present == '' and redis.call('ZCARD', KEYS[3]) >= tonumber(ARGV[7]) then return 'full' end
redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[2], ARGV[5], 'PX', ARGV[6])
redis.call('HSET', KEYS[1], 'statement', ARGV[3], 'about', ARGV[4])
for index = 8, #ARGV, 2 do
  redis.call('HSET', KEYS[1], ARGV[index], ARGV[index + 1])
end
redis.call('PEXPIRE', KEYS[1], ARGV[6])
redis.call('ZADD', KEYS[3], now + ARGV[6], ARGV[2])
redis.call('PEXPIRE', KEYS[3], ARGV[6])
return 'done'
