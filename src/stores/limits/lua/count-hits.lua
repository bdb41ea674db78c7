-- Counts a hit under every key, or under no key when one of them exceeds its limit. The rule is that
-- of `countHit` in counter-state.ts. Redis supplies the time, because clocks of replicas differ.
--
-- KEYS: for each hit its key, and the mark that exempts from it or the same key again.
-- ARGV: for each hit its limit: hits, window, first wait, longest wait; times in ms.
-- Returns the longest wait in ms, then for each hit 1 or 0: whether it was counted, and which lock-out in
-- a row it started and for how many ms, or 0 and 0.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function ahead(moment, longest)
  return now < moment and moment - now <= longest
end

local writes, counted, result, refused = {}, {}, {}, 0
for index = 1, #KEYS / 2 do
  local key, mark = KEYS[2 * index - 1], KEYS[2 * index]
  local at = 4 * (index - 1)
  local most, window = tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
  local first, longest = tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4])
  counted[index] = 0
  local began, beganMs = 0, 0

  if mark == key or redis.call('EXISTS', mark) == 0 then
    local text = redis.call('GET', key) or ''
    local hits, ends, waits, till = string.match(text, '^(%d+) (%d+) (%d+) (%d+)$')
    hits, ends = tonumber(hits) or 0, tonumber(ends) or 0
    waits, till = tonumber(waits) or 0, tonumber(till) or 0

    if ahead(till, longest) then
      refused = math.max(refused, till - now)
    else
      if now >= till + longest then waits = 0 end
      if not ahead(ends, window) then hits, ends = 0, now + window end
      if hits >= most then
        local wait = math.min(first * 2 ^ math.min(waits, 30), longest)
        refused = math.max(refused, wait)
        hits, ends, waits, till = 0, 0, waits + 1, now + wait
        began, beganMs = waits, wait
      else
        hits = hits + 1
        counted[index] = 1
      end
      local keep = math.max(ends, waits > 0 and till + longest or 0) - now
      local state = string.format('%.0f %.0f %.0f %.0f', hits, ends, waits, till)
      writes[#writes + 1] = { key, state, string.format('%.0f', keep), counted[index] }
    end
  end
  result[#result + 1] = counted[index]
  result[#result + 1] = began
  result[#result + 1] = beganMs
end

for _, write in ipairs(writes) do
  if refused == 0 or write[4] == 0 then redis.call('SET', write[1], write[2], 'PX', write[3]) end
end
return { refused, unpack(result) }
