-- Takes hits back, forgets keys, sets a mark: all in one step.
--
-- KEYS: those to take a hit back from, those to forget, the mark.
-- ARGV: how many of the first and of the second kind; the lifetime of the mark in ms, 0 for no mark.
local counters, cleared = tonumber(ARGV[1]), tonumber(ARGV[2])
for index = 1, counters do
  local hits, rest = string.match(redis.call('GET', KEYS[index]) or '', '^(%d+)( .+)$')
  local left = redis.call('PTTL', KEYS[index])
  if hits and tonumber(hits) > 0 and left > 0 then
    redis.call('SET', KEYS[index], string.format('%.0f', hits - 1) .. rest, 'PX', left)
  end
end
for index = counters + 1, counters + cleared do
  redis.call('DEL', KEYS[index])
end
if ARGV[3] ~= '0' then redis.call('SET', KEYS[counters + cleared + 1], '1', 'PX', ARGV[3]) end
return 1
