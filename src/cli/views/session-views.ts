import { readUserAgent } from '../../kernel/user-agent.ts'
import type { DocumentOf } from '../../operations/operation.ts'
import type { sessionEnd, sessionList } from '../../operations/sessions/descriptions.ts'
import { count, formatTable, printable } from '../format.ts'
import type { PromptOf, ViewOf } from '../view.ts'

export const sessionListView: ViewOf<typeof sessionList> = {
  text({ document: { total, sessions } }, { user, limit }) {
    const of = user === undefined ? '' : ` of ${printable(JSON.stringify(user))}`
    const missing = total === 0 ? `postern: no sessions${of}\n` : ''
    const more = `postern: ${limit} of ${count(total, 'session')}: raise --limit to see more\n`
    return {
      out: total === 0 ? '' : formatTable([titles, ...sessions.map(row)]),
      err: `${missing}${total > limit ? more : ''}`,
    }
  },
}

const titles = ['ID', 'USER', 'ROLE', 'ADDRESS', 'AGENT', 'ISSUED', 'EXPIRES', 'LAST SEEN']

function row(session: DocumentOf<typeof sessionList>['sessions'][number]): readonly string[] {
  const { id, username, roleKey, address, agent, issuedAt, expiresAt, seenAt } = session
  const { browser, os } = readUserAgent(agent)
  const client = [browser, os].filter((part) => part !== '').join(', ') || agent.slice(0, 40)
  const times = [toSecond(issuedAt), toSecond(expiresAt), seenAt.replace(/:\d\d\.\d+Z$/, 'Z')]
  return [id, username, roleKey, address, client, ...times]
}

function toSecond(time: string): string {
  return time.replace(/\.\d+Z$/, 'Z')
}

/** Before all sessions end. */
export const sessionEnding: PromptOf<typeof sessionEnd> = {
  words({ sessions, users }) {
    const what = `${count(sessions, 'session')} of ${count(users, 'user')}`
    return {
      question: `End ${what}? They must log in again.`,
      unasked: `stdin or stderr is not a terminal: run again with --yes to end ${what}`,
    }
  },
}
