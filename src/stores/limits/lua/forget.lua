-- Deletes from the sorted set and from the hash.
local function forget(members)
  for _, member in ipairs(members) do
    redis.call('ZREM', KEYS[1], member)
    redis.call('HDEL', KEYS[2], member)
  end
end
