-- A time of Redis as `Date.toISOString` writes it. Scripts have no `os.date`, so the date is
-- counted from 0000-03-01, where a leap day is the last day of its year.
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
