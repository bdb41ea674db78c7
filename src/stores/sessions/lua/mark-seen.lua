-- KEYS: the sessions of one user each. ARGV: for each session the index of its key, id and time.
for at = 1, #ARGV, 3 do
  local key, id, seen = KEYS[tonumber(ARGV[at])], ARGV[at + 1], ARGV[at + 2]
  local before, rest = string.match(redis.call('HGET', key, id) or '', '^(%d+)( .*)$')
  if before and tonumber(before) < tonumber(seen) then redis.call('HSET', key, id, seen .. rest) end
end
return 0
