-- KEYS: a list. ARGV: how many entries to look at, how many to return, the longest one in bytes.
local kept = {}
for _, text in ipairs(redis.call('LRANGE', KEYS[1], 0, ARGV[1] - 1)) do
  if #text <= tonumber(ARGV[3]) then kept[#kept + 1] = text end
  if #kept == tonumber(ARGV[2]) then break end
end
return kept
