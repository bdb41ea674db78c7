-- KEYS: a hash. ARGV: the most fields, the most bytes of a field and its value. Returns fields and values.

-- A Redis user of version 0.1.0 may lack the right to HLEN.
local count = redis.pcall('HLEN', KEYS[1])
if type(count) == 'number' and count > tonumber(ARGV[1]) then return {} end
local all = redis.call('HGETALL', KEYS[1])
if #all > 2 * ARGV[1] then return {} end
local kept = {}
for index = 1, #all, 2 do
  if #all[index] + #all[index + 1] <= tonumber(ARGV[2]) then
    kept[#kept + 1] = all[index]
    kept[#kept + 1] = all[index + 1]
  end
end
return kept
