const units = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const

/** `3 days 4 hr`, `12 min` or `0.4 sec`: the largest unit that it has, and the next one. */
export function formatDuration(language: string, seconds: number): string {
  const total = Math.max(0, seconds)
  if (total < 10) return inUnit(language, 'second', Math.round(total * 10) / 10)
  const at = units.findIndex(([, size]) => total >= size)
  const parts: string[] = []
  let rest = Math.round(total)
  for (const [unit, size] of units.slice(at, at + 2)) {
    const count = Math.floor(rest / size)
    rest -= count * size
    if (count > 0) parts.push(inUnit(language, unit, count))
  }
  return parts.join(' ')
}

function inUnit(language: string, unit: string, count: number): string {
  const tag = language === 'zh' ? 'zh-CN' : 'en'
  return new Intl.NumberFormat(tag, { style: 'unit', unit, unitDisplay: 'short' }).format(count)
}
