import { plural } from '../plural.ts'

/** As the short units of `Intl.NumberFormat`, whose first use would delay a page. */
const units = [
  [86_400, 'days', 'day', '天'],
  [3600, 'hr', 'hr', '小时'],
  [60, 'min', 'min', '分钟'],
  [1, 'sec', 'sec', '秒'],
] as const
const second = units[3]

/** `3 days 4 hr`, `12 min` or `0.4 sec`: the largest unit that it has, and the next one. */
export function formatDuration(language: string, seconds: number): string {
  const total = Math.max(0, seconds)
  if (total < 10) return inUnit(language, second, Math.round(total * 10) / 10)
  const at = units.findIndex(([size]) => total >= size)
  const parts: string[] = []
  let rest = Math.round(total)
  for (const unit of units.slice(at, at + 2)) {
    const [size] = unit
    const count = Math.floor(rest / size)
    rest -= count * size
    if (count > 0) parts.push(inUnit(language, unit, count))
  }
  return parts.join(' ')
}

function inUnit(language: string, unit: (typeof units)[number], count: number): string {
  const [, other, one, chinese] = unit
  if (language === 'zh') return `${count}${chinese}`
  return `${count} ${plural('en', count, { one, other })}`
}
