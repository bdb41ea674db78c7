-- A sequence that was stored, or 0 for one whose successor `isSequence` would refuse.
local function sequenceIn(stored)
  local number = tonumber(stored)
  return number and number >= 0 and number < {{latest}} and number or 0
end
