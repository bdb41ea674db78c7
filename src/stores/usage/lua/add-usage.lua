-- Adds each number to its field, and keeps the latest time. A hash that is full takes the fallback name
-- until it is twice as full, then `*` alone. A key that is not a hash fails before anything is added.
--
-- KEYS: the mark of the batch, and a hash for each kind. ARGV: the lifetimes of mark and hashes in ms, the
-- time, the most fields of each hash; then for each number the place of its key, the name, the fallback
-- and the number.
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
for index = 2, #KEYS do redis.call('HLEN', KEYS[index]) end
local at = tonumber(ARGV[3])
for index = 3 + #KEYS, #ARGV, 4 do
  local place = tonumber(ARGV[index])
  local key, field, most = KEYS[place], ARGV[index + 1], tonumber(ARGV[2 + place])
  local known = redis.call('HGET', key, field)
  if not known and redis.call('HLEN', key) >= most then
    field = ARGV[index + 2]
    known = redis.call('HGET', key, field)
    if not known and redis.call('HLEN', key) >= 2 * most then
      field = '{{otherName}}'
      known = redis.call('HGET', key, field)
    end
  end
  local count, last = string.match(known or '', '^(%d+) (%d+)$')
  local sum = math.min((tonumber(count) or 0) + tonumber(ARGV[index + 3]), 9007199254740991)
  last = math.max(tonumber(last) or 0, at)
  redis.call('HSET', key, field, string.format('%.0f %.0f', sum, last))
end
for index = 2, #KEYS do redis.call('PEXPIRE', KEYS[index], ARGV[2]) end
redis.call('SET', KEYS[1], '1', 'PX', ARGV[1])
return 1
