-- KEYS: sums. ARGV: for each how much to add, and its lifetime in ms. Returns the sums.
local sums = {}
for index = 1, #KEYS do
  sums[index] = redis.call('INCRBY', KEYS[index], ARGV[2 * index - 1])
  if redis.call('PTTL', KEYS[index]) < 0 then
    redis.call('PEXPIRE', KEYS[index], ARGV[2 * index])
  end
end
return sums
