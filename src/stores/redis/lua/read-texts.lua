-- KEYS: texts. ARGV: where each is cut, in bytes. Returns false for one that is missing, empty or no text.
local texts = {}
for index, key in ipairs(KEYS) do
  local text = redis.pcall('GETRANGE', key, 0, ARGV[1])
  texts[index] = type(text) == 'string' and text ~= '' and text
end
return texts
