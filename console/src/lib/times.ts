/*
 * Points in time in the language and time zone of the reader, as `Intl.DateTimeFormat` writes them. Its first
 * use would delay a page by 10 ms.
 */

/** `Nov 17, 2026, 7:04 PM` */
export function formatTime(language: string, time: string | number): string {
  const date = new Date(time)
  if (Number.isNaN(date.getTime())) return String(time)
  return [dayOf(language, date), clockOf(language, date)].join(language === 'zh' ? ' ' : ', ')
}

/** The day of a point in time. */
export function formatDate(language: string, time: string | number): string {
  return dayOf(language, new Date(time))
}

/** Hours, minutes and seconds of a point in time. */
export function formatClock(language: string, time: string | number): string {
  return clockOf(language, new Date(time), { hasSeconds: true })
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

function dayOf(language: string, date: Date): string {
  const [year, month, day] = [date.getFullYear(), date.getMonth(), date.getDate()]
  if (language === 'zh') return `${year}年${month + 1}月${day}日`
  return `${months[month]} ${day}, ${year}`
}

function clockOf(language: string, date: Date, { hasSeconds = false } = {}): string {
  const hours = date.getHours()
  const rest = [date.getMinutes(), ...(hasSeconds ? [date.getSeconds()] : [])].map(twoDigits)
  if (language === 'zh') return [twoDigits(hours), ...rest].join(':')
  return `${[hours % 12 || 12, ...rest].join(':')} ${hours < 12 ? 'AM' : 'PM'}`
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0')
}
