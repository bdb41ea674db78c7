import { latestTime } from '../../latest-time.ts'

/** In Lua: a sequence that was stored, or 0 for one whose successor `isSequence` would refuse. */
export const sequenceFunction = `
local function sequenceIn(stored)
  local number = tonumber(stored)
  return number and number >= 0 and number < ${latestTime - 1} and number or 0
end
`

/**
 * In Lua: a time of Redis as `Date.toISOString` writes it. Scripts have no `os.date`, so the date is
 * counted from 0000-03-01, where a leap day is the last day of its year.
 */
export const timeFunction = `
local function isoTime(seconds, micros)
  local floor = math.floor
  local days = floor(seconds / 86400) + 719468
  local rest = seconds % 86400
  local era = floor(days / 146097)
  local dayOfEra = days - era * 146097
  local yearOfEra = floor((dayOfEra - floor(dayOfEra / 1460) + floor(dayOfEra / 36524)
    - floor(dayOfEra / 146096)) / 365)
  local dayOfYear = dayOfEra - (365 * yearOfEra + floor(yearOfEra / 4) - floor(yearOfEra / 100))
  local month = floor((5 * dayOfYear + 2) / 153)
  local day = dayOfYear - floor((153 * month + 2) / 5) + 1
  local year = yearOfEra + era * 400 + (month < 10 and 0 or 1)
  month = month < 10 and month + 3 or month - 9
  return string.format('%04d-%02d-%02dT%02d:%02d:%02d.%03dZ', year, month, day,
    floor(rest / 3600), floor(rest % 3600 / 60), rest % 60, floor(micros / 1000))
end
`

/**
 * In Lua: the revision of a stored shadow, or '' when it is not valid; and whether the head or the history
 * names a revision. Both search for text: what is stored may be anything.
 */
export const shadowFunctions = `
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
`

/**
 * One publication, atomically. Moves the head only from the revision that the publisher saw; an
 * existing document stays as it is, unless the publisher found it broken.
 *
 * The sequence is one more than the head's and than any that a replica reported, and at least the
 * time in milliseconds: so it is above every sequence that was ever active, also after Redis lost
 * its data or was restored from an older copy. What no sequence can be does not count. The time of
 * the move is that of Redis: the clocks of those who publish may differ.
 *
 * A shadow whose revision becomes live ends. The document of any other shadow stays.
 *
 * KEYS: head, document, history, highest, shadow, its replicas, its reports; then documents that fall
 * out of the history.
 * ARGV: expected revision or '', revision, document, '1' to replace a broken one, move without
 * sequence and time, channel, how many moves the history keeps, head without revision and sequence.
 */
export const publishScript = `
${sequenceFunction}
${timeFunction}
${shadowFunctions}
local text = redis.call('GET', KEYS[1])
local head = text and cjson.decode(text) or { revision = '', sequence = 0 }
if head.revision ~= ARGV[1] then return { 0, text or '' } end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local highest = math.max(sequenceIn(head.sequence), sequenceIn(redis.pcall('GET', KEYS[4])))
local sequence = string.format('%.0f', math.max(now, highest + 1))
local at = isoTime(tonumber(time[1]), tonumber(time[2]))

-- A script is not rolled back. So what can fail comes before the head moves, and what has to hold
-- for the new head comes first; only tidying up and the announcement are left for afterwards.
redis.call('LLEN', KEYS[3])
if ARGV[4] == '1' then
  redis.call('DEL', KEYS[2])
end
redis.call('SET', KEYS[2], ARGV[3], 'NX')
redis.call('LPUSH', KEYS[3],
  '{"sequence":' .. sequence .. ',"at":"' .. at .. '",' .. string.sub(ARGV[5], 2))
local brief = '{"revision":' .. cjson.encode(ARGV[2]) .. ',"sequence":' .. sequence
text = brief .. ',' .. string.sub(ARGV[8], 2)
redis.call('SET', KEYS[1], text)
redis.call('LTRIM', KEYS[3], 0, ARGV[7] - 1)
local shadow = revisionIn(redis.pcall('GET', KEYS[5]))
if shadow == ARGV[2] then
  redis.call('DEL', KEYS[5], KEYS[6], KEYS[7])
end
local documents = string.sub(KEYS[2], 1, -1 - #ARGV[2])
for index = 8, #KEYS do
  if KEYS[index] ~= documents .. shadow then
    redis.call('DEL', KEYS[index])
  end
end
-- The head has moved, whether or not this user may use the channel; polling finds it.
redis.pcall('PUBLISH', ARGV[6], brief .. '}')
return { 1, text }
`
