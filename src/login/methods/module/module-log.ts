import type { Log } from '../../../log/log.ts'
import type { LogLine } from './messages.ts'

/** Texts that a module prints, per second: a module in a loop must not fill the log. */
const printedPerSecond = 20
const maxText = 1000

/** Writes what a module logs or prints as lines of the gateway's log. */
export function createModuleLog(log: Log) {
  let module: string | undefined
  let second = 0
  let printed = 0

  return {
    named(name: string): void {
      module = name
    },
    logged({ level, message, details }: LogLine, mask: (text: string) => string): void {
      const shown = Object.entries(details).map(([name, value]) => [
        name,
        typeof value === 'string' ? log.clean(mask(value)) : value,
      ])
      const more = shown.length === 0 ? {} : { details: Object.fromEntries(shown) }
      log[level]({ module, text: log.clean(mask(message)), ...more }, 'login module message')
    },
    printed(text: string): void {
      const now = Math.floor(Date.now() / 1000)
      if (now !== second) [second, printed] = [now, 0]
      if (++printed > printedPerSecond || text.trim() === '') return
      const shown = log.clean(text.trimEnd().slice(0, maxText))
      log.info({ module, text: shown }, 'login module printed')
    },
  }
}
