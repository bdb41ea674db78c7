-- Forgets consumers that have nothing and have not asked for so long; in one step, since forgetting
-- one that has something loses it. KEYS: stream. ARGV: group, time, the only one meant or nothing.
for _, fields in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do
  local consumer = {}
  for at = 1, #fields, 2 do consumer[fields[at]] = fields[at + 1] end
  local meant = ARGV[3] == '' or ARGV[3] == consumer.name
  if meant and consumer.pending == 0 and consumer.idle >= tonumber(ARGV[2]) then
    redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], consumer.name)
  end
end
