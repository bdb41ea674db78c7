-- KEYS: a sorted set. ARGV: the first and the last place, the longest member in bytes.
-- Returns members and scores.
local kept = {}
local found = redis.call('ZRANGE', KEYS[1], ARGV[1], ARGV[2], 'WITHSCORES')
for at = 1, #found, 2 do
  if #found[at] <= tonumber(ARGV[3]) then
    kept[#kept + 1] = found[at]
    kept[#kept + 1] = found[at + 1]
  end
end
return kept
