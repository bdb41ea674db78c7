import type { loginList, loginLocks } from '../../operations/logins/descriptions.ts'
import { maskedText } from '../../operations/logins/masked-names.ts'
import { count, formatTable } from '../format.ts'
import { type ViewOf, warnings } from '../view.ts'

export const loginListView: ViewOf<typeof loginList> = {
  text({ document: { attempts }, notes }) {
    const rows = attempts.map(({ at, username, via, message, address, ...attempt }) => {
      const outcome = attempt.outcome ?? message
      const isMarked = attempt.outcome !== null && via === 'console'
      const client = attempt.client || attempt.userAgent.slice(0, 40)
      const user = username ?? maskedText
      return [at, user, isMarked ? `${outcome} (console)` : outcome, address, client]
    })
    const titles = ['TIME', 'USER', 'OUTCOME', 'ADDRESS', 'CLIENT']
    return { out: rows.length === 0 ? '' : formatTable([titles, ...rows]), err: warnings(notes) }
  },
}

export const loginLocksView: ViewOf<typeof loginLocks> = {
  text({ document: { lockouts, unreadable }, notes = [] }) {
    const rows = lockouts.map(({ kind, username, address = '-', crossSite, ...each }) => {
      const user = username === undefined ? '-' : (username ?? maskedText)
      const from = `${address}${crossSite ? ' (cross-site)' : ''}`
      return [kind, user, from, each.since, each.until, String(each.attempts)]
    })
    const unread = `${count(unreadable, 'more lock-out')} cannot be read: recorded with another signing key`
    const all = [
      ...(rows.length === 0 ? ['nothing is locked out'] : []),
      ...notes,
      ...(unreadable === 0 ? [] : [unread]),
    ]
    const out = rows.length === 0 ? '' : formatTable([titles, ...rows])
    return { out, err: warnings(all) }
  },
}

const titles = ['KIND', 'USER', 'ADDRESS', 'SINCE', 'UNTIL', 'ATTEMPTS']
