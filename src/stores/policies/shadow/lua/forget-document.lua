-- Deletes the document of a shadow that ended, unless a move names it.
local function forget(revision, document, head, history)
  if revision ~= '' and not isNamed(revision, head, history) then
    redis.call('DEL', document)
  end
end
