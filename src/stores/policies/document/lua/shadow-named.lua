-- The revision of a stored shadow, or '' when it is not valid; and whether the head or the history
-- names a revision. Both search for text: what is stored may be anything.
local function revisionIn(stored)
  return type(stored) == 'string' and string.match(stored, '^{"revision":"(r%-%x+)"') or ''
end
local function isNamed(revision, head, history)
  local text = '"revision":"' .. revision .. '"'
  local stored = redis.pcall('GET', head)
  if type(stored) == 'string' and string.find(stored, text, 1, true) then return true end
  for _, move in ipairs(redis.call('LRANGE', history, 0, -1)) do
    if string.find(move, text, 1, true) then return true end
  end
  return false
end
