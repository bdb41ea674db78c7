-- KEYS: a hash. ARGV: the longest value, in bytes; then the fields.
-- Returns false for those missing or too long.
local texts = redis.call('HMGET', KEYS[1], unpack(ARGV, 2))
for index, text in ipairs(texts) do
  texts[index] = text and #text <= tonumber(ARGV[1]) and text
end
return texts
