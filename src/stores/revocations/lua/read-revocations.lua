-- Returns the list's id and last sequence, then name, sequence and value of each entry after the
-- given position; no entries for a position in another list. A list that lacks a key counts as
-- missing: gateways that know its entries write them back. What is longer than any entry comes back
-- empty: one that someone else wrote must not hide the others.
--
-- KEYS: entries, order, ends, head. ARGV: list or '', sequence, how many at most.
if redis.call('EXISTS', unpack(KEYS)) < #KEYS then return { '', '0' } end
local list = redis.call('HGET', KEYS[4], 'list') or ''
local last = redis.call('HGET', KEYS[4], 'sequence') or '0'
local answer = { list, last }
if list ~= ARGV[1] and ARGV[2] ~= '0' then return answer end
if tonumber(last) <= tonumber(ARGV[2]) then return answer end
local found = redis.call(
  'ZRANGEBYSCORE', KEYS[2], '(' .. ARGV[2], '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[3])
local function short(text)
  return text and #text <= 4096 and text or ''
end
for at = 1, #found, 2 do
  answer[#answer + 1] = short(found[at])
  answer[#answer + 1] = found[at + 1]
  answer[#answer + 1] = short(redis.call('HGET', KEYS[1], found[at]))
end
return answer
