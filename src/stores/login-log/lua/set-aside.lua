-- KEYS: stream, those set aside.
redis.call('XADD', KEYS[2], 'MAXLEN', ARGV[5], '*', 'entry', ARGV[2], 'reason', ARGV[3], 'fields', ARGV[4])
redis.call('XACK', KEYS[1], ARGV[1], ARGV[2])
redis.call('XDEL', KEYS[1], ARGV[2])
