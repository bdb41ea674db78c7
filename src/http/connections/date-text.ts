import { flatText } from '../../wire/flat-text.ts'

let text = ''
let second = 0

/** The value of the Date header. It changes once a second, so it is built once a second. */
export function dateText(): string {
  const now = Date.now()
  const current = Math.floor(now / 1000)
  if (current !== second) {
    second = current
    text = flatText(new Date(now).toUTCString())
  }
  return text
}
