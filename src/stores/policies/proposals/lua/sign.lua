-- Adds a signature to the statement that was signed, and to no other. Replaces one of the same key: it
-- may be one that an attacker put there.
--
-- KEYS: proposal. ARGV: statement, field of the signature, signature.
local present = redis.call('HGET', KEYS[1], 'statement')
if not present then return 'missing' end
if present ~= ARGV[1] then return 'changed' end
redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
return 'done'
