-- In one step: an entry that is acknowledged and not deleted would stay forever. KEYS: stream.
redis.call('XACK', KEYS[1], ARGV[1], unpack(ARGV, 2))
redis.call('XDEL', KEYS[1], unpack(ARGV, 2))
