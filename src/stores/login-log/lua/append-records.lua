-- In one step, so that how many entries went is known. KEYS: stream.
local most = tonumber(ARGV[1])
if ARGV[2] == 'refuse' and redis.call('XLEN', KEYS[1]) + #ARGV - 2 > most then return -1 end
for at = 3, #ARGV do redis.call('XADD', KEYS[1], '*', '{{recordField}}', ARGV[at]) end
return redis.call('XTRIM', KEYS[1], 'MAXLEN', most)
