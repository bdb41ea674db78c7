-- Adds to the list and deletes expired entries. Sequences only grow within one list, and are at
-- least the time in milliseconds. The keys expire with their last entry. If Redis evicted one of
-- them, the others would hide what it held, so a new list begins.
--
-- KEYS: entries, order, ends, head. ARGV: channel, id for a new list, `now` or `before`, how many to
-- delete at most, how far ahead a new moment may be; then name, user, moment and until of each.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if redis.call('EXISTS', unpack(KEYS)) < #KEYS then redis.call('DEL', unpack(KEYS)) end
local over = redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now, 'LIMIT', 0, ARGV[4])
if #over > 0 then
  redis.call('HDEL', KEYS[1], unpack(over))
  redis.call('ZREM', KEYS[2], unpack(over))
  redis.call('ZREM', KEYS[3], unpack(over))
end

local function momentOf(name)
  local known = redis.call('HGET', KEYS[1], name)
  return known and tonumber(string.match(known, '^%d+') or 0)
end

local tokens, marks, kept = {}, {}, {}
for at = 6, #ARGV, 4 do
  local name, user, moment, ends = ARGV[at], ARGV[at + 1], tonumber(ARGV[at + 2]), ARGV[at + 3]
  local row = { name = name, user = user, moment = moment, ends = ends }
  local kind = string.sub(name, 1, 2)
  if kind == 'k:' then
    kept[#kept + 1] = row
  elseif kind == 'u:' then
    row.earlier = momentOf(name)
    if ARGV[3] == 'now' then
      row.moment = math.min(math.max(moment, now), now + ARGV[5])
      if row.earlier then row.moment = math.max(row.moment, row.earlier + 1) end
    end
    if not marks[user] or marks[user].moment < row.moment then marks[user] = row end
  else
    tokens[#tokens + 1] = row
  end
end

local last = math.max(now, tonumber(redis.call('HGET', KEYS[4], 'sequence') or 0))
local sequence = last
local function add(row)
  local known = momentOf(row.name)
  if known and known >= row.moment then return end
  sequence = sequence + 1
  local value = string.format('%.0f', row.moment) .. ' ' .. row.ends .. ' ' .. row.user
  redis.call('HSET', KEYS[1], row.name, value)
  redis.call('ZADD', KEYS[2], string.format('%.0f', sequence), row.name)
  redis.call('ZADD', KEYS[3], row.ends, row.name)
end
for _, row in ipairs(kept) do
  local mark = marks[row.user]
  if mark and (ARGV[3] == 'now' or row.moment == mark.moment) then
    local issued = tonumber(string.match(row.name, '^k:(%d+):'))
    local earlier = mark.earlier
    if earlier and earlier >= issued and momentOf(row.name) ~= earlier then
      mark.refuses = true
    else
      row.moment = mark.moment
      add(row)
    end
  end
end
for _, row in pairs(marks) do
  if row.refuses then row.moment = row.moment + 1 end
  add(row)
end
for _, row in ipairs(tokens) do add(row) end
if sequence == last then return 0 end

redis.call('HSETNX', KEYS[4], 'list', ARGV[2])
redis.call('HSET', KEYS[4], 'sequence', string.format('%.0f', sequence))
local latest = tonumber(redis.call('ZREVRANGE', KEYS[3], 0, 0, 'WITHSCORES')[2])
for _, key in ipairs(KEYS) do
  redis.call('PEXPIREAT', key, string.format('%.0f', latest + 86400000))
end
-- The ACL of a Redis user may lack the channel. The message is only a hint: polling finds the entry.
redis.pcall('PUBLISH', ARGV[1], string.format('%.0f', sequence))
return sequence - last
