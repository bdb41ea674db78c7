-- KEYS: the sorted set, the hash, as in put-captcha.lua. ARGV: id. A second take finds nothing, on any replica.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local ends = redis.call('ZSCORE', KEYS[1], ARGV[1])
local digest = redis.call('HGET', KEYS[2], ARGV[1])
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('HDEL', KEYS[2], ARGV[1])
return ends and now < tonumber(ends) and digest or false
