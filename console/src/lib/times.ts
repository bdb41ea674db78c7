/** A point in time in the language and time zone of the reader. */
export function formatTime(language: string, time: string | number): string {
  const date = new Date(time)
  if (Number.isNaN(date.getTime())) return String(time)
  return formatter(language).format(date)
}

/** The day of a point in time. */
export function formatDate(language: string, time: string | number): string {
  return formatter(language, 'date').format(new Date(time))
}

/** Hours, minutes and seconds of a point in time. */
export function formatClock(language: string, time: string | number): string {
  return formatter(language, 'clock').format(new Date(time))
}

const forms = {
  both: { dateStyle: 'medium', timeStyle: 'short' },
  date: { dateStyle: 'medium' },
  clock: { timeStyle: 'medium' },
} as const

const formatters = new Map<string, Intl.DateTimeFormat>()

/** Making one takes longer than using it hundreds of times. */
function formatter(language: string, form: keyof typeof forms = 'both'): Intl.DateTimeFormat {
  const key = `${language} ${form}`
  const known = formatters.get(key)
  if (known !== undefined) return known
  const tag = language === 'zh' ? 'zh-CN' : 'en'
  const made = new Intl.DateTimeFormat(tag, forms[form])
  formatters.set(key, made)
  return made
}
