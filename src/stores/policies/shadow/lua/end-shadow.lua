-- Ends a shadow, atomically, if it is still the one that was seen.
--
-- KEYS: shadow, head, history, replicas, reports; then its document. ARGV: stored shadow, channel.
{{shadowFunctions}}
{{forgetFunction}}
local text = redis.call('GET', KEYS[1])
if text ~= ARGV[1] then return 0 end
redis.call('LLEN', KEYS[3])
redis.call('DEL', KEYS[1], KEYS[4], KEYS[5])
if KEYS[6] then
  forget(revisionIn(text), KEYS[6], KEYS[2], KEYS[3])
end
redis.pcall('PUBLISH', ARGV[2], 'shadow')
return 1
