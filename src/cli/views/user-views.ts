import { dataScopeInWords } from '../../kernel/data-scope.ts'
import type {
  dbMigrate,
  userDelete,
  userList,
  userShow,
} from '../../operations/accounts/descriptions.ts'
import { offAfter } from '../../operations/accounts/wrong-codes.ts'
import type { DocumentOf } from '../../operations/operation.ts'
import { count, formatTable, jsonLine } from '../format.ts'
import type { PromptOf, ViewOf } from '../view.ts'

type User = DocumentOf<typeof userShow>

/** A service account never logs in, whatever its row says. */
function statusInWords({ enabled, kind }: Pick<User, 'enabled' | 'kind'>): string {
  if (kind === 'service') return 'no login'
  return enabled ? 'enabled' : 'disabled'
}

export const userListView: ViewOf<typeof userList> = {
  text({ document }) {
    const rows = document.map((account) => {
      const { userId, username, roleKey, kind, secondFactor } = account
      return [
        ...[userId, username, roleKey, statusInWords(account), kind],
        secondFactor ? 'yes' : 'no',
      ]
    })
    return formatTable([['ID', 'NAME', 'ROLE', 'STATUS', 'KIND', 'OTP'], ...rows])
  },
  json: ({ document }) => jsonLine(document),
}

export const userShowView: ViewOf<typeof userShow> = {
  text({ document, notes = [] }) {
    const links = document.links.map(({ provider, subject, seenAt }) => {
      const seen = seenAt === null ? 'no login yet' : `last login about ${seenAt}`
      return ['linked to', `${provider}, subject ${subject}, ${seen}`]
    })
    const twins = document.sameName.map((id) => ['same name', `user with ID ${id}`])
    const codes = ['one-time codes', codesInWords(document.oneTimeCodes, notes)]
    return formatTable([...rowsOf(document), codes, ...links, ...twins])
  },
}

function rowsOf(account: User): readonly (readonly string[])[] {
  const { userId, username, kind, roleKey, roleName, dataScope, sessions } = account
  return [
    ['id', userId],
    ['name', username],
    ['kind', kind],
    ['role', roleKey === '' ? 'none: login refuses this account' : `${roleKey} (${roleName})`],
    ['data scope', dataScopeInWords(dataScope)],
    ['status', statusInWords(account)],
    ...(kind === 'user' && !account.hasPassword ? [['password', 'none here']] : []),
    ...lockoutsInWords(account.lockouts).map((text) => ['locked out', text]),
    ['sessions', sessions === null ? 'unknown' : `${sessions}`],
    ['created', account.createdAt ?? 'unknown'],
    ['updated', account.updatedAt ?? 'unknown'],
  ]
}

/** `notes` say why an account without codes cannot log in. */
function codesInWords(oneTimeCodes: User['oneTimeCodes'], notes: readonly string[]): string {
  if (oneTimeCodes === null) return ['no', ...notes].join(', and ')
  const { enrolledAt, key, recoveryCodesLeft, failures } = oneTimeCodes
  const since = `since ${enrolledAt ?? 'unknown'}, encrypted with ${key}`
  const left = `${count(recoveryCodesLeft, 'recovery code')} left`
  return [`${since}, ${left}`, offAfter(failures)].filter((part) => part !== undefined).join('; ')
}

/** An attack locks an account out at thousands of addresses. */
const shownLockouts = 10

function lockoutsInWords(lockouts: User['lockouts']): readonly string[] {
  if (lockouts === null) return ['unknown']
  if (lockouts.length === 0) return ['no']
  const shown = lockouts.slice(0, shownLockouts).map(({ address, until }) => {
    return `${address === undefined ? '' : `logins from ${address}, `}until ${until}`
  })
  const more = lockouts.length - shown.length
  return more === 0 ? shown : [...shown, `and ${more} more: see "postern login locks"`]
}

/** What was done is said by the notes; a generated password is the only result. */
export const accountChangeView = {
  text: ({ document }: { readonly document: object }) =>
    'password' in document ? `${document.password}\n` : '',
}

/** Which accounts it is about: several may have the name. */
export const userDeletion: PromptOf<typeof userDelete> = {
  words(found, { name }) {
    const ids = found.map(({ userId, roleKey }) => `ID ${userId}, role ${roleKey || 'none'}`)
    return deletionWords(name, `user ${name} (${ids.join('; ')})`)
  },
}

export function deletionWords(name: string, whom: string) {
  return {
    question: `Delete ${whom}?`,
    unasked: `stdin or stderr is not a terminal: to delete ${whom}, run again with --yes`,
    declined: `user ${name} is not deleted`,
  }
}

export const dbMigrateView: ViewOf<typeof dbMigrate> = {
  text({ document: { made, roles } }) {
    const tables = made.map((name) => `created table ${name}\n`)
    const created = [...tables, ...roles.map((key) => `created role ${key}\n`)]
    return `${created.join('')}${made.length === 0 ? 'all tables exist and match\n' : ''}`
  },
}
