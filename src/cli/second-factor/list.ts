import { didYouMean } from '../../kernel/suggest.ts'
import { keyName } from '../../login/second-factor/sealed-secret.ts'
import { maxFailures } from '../../login/second-factor/second-factor.ts'
import { withDatabase } from '../../operations/configured-database.ts'
import { tokenSettings } from '../../operations/tokens/configured-keys.ts'
import { createAccountDirectory } from '../../stores/accounts/account-directory.ts'
import { enrolledAccounts } from '../../stores/second-factor/enrollment-directory.ts'
import { formatTable, jsonLine, printable } from '../format.ts'
import type { Io } from '../io.ts'
import { sealKeys, type TotpOptions } from './account.ts'

/** Lists accounts with one-time codes, and those that their role forbids to log in without. */
export async function listEnrollments(options: TotpOptions, io: Io): Promise<number> {
  const settings = tokenSettings(options.config, io)
  const keys = await sealKeys(settings)
  const { roles } = settings.config.login.secondFactor
  const { enrolled, accounts, roleKeys } = await withDatabase(settings, async (database) => {
    const directory = createAccountDirectory(database)
    const [accounts, roleKeys] = [await directory.list(), await directory.roleKeys()]
    return { enrolled: await enrolledAccounts(database), accounts, roleKeys }
  })
  for (const role of roles) {
    if (roleKeys.includes(role)) continue
    const hint = didYouMean(role, roleKeys)
    io.err(`${printable(`note: login.secondFactor.roles: role "${role}" does not exist${hint}`)}\n`)
  }

  const present = enrolled.map(({ sealed: _, keyId, ...account }) => {
    const status = statusOf(account.failures, keys.find(keyId) !== undefined)
    return { ...account, key: keyName(keyId), status }
  })
  const ids = new Set(enrolled.map(({ userId }) => userId))
  const absent = accounts
    .filter(({ userId, roleKey, kind }) => {
      return kind === 'user' && roles.includes(roleKey) && !ids.has(userId)
    })
    .map(({ userId, username, roleKey }) => {
      const account = { userId, username, roleKey, enrolledAt: null, recoveryCodesLeft: 0 }
      return { ...account, failures: 0, key: null, status: 'not-enrolled' as const }
    })
  const listed = [...present, ...absent]
  if (options.output === 'json') {
    io.out(jsonLine(listed))
    return 0
  }
  const titles = ['ID', 'NAME', 'ROLE', 'ENROLLED', 'KEY', 'RECOVERY CODES', 'STATUS']
  const rows = listed.map(({ userId, username, roleKey, enrolledAt, ...rest }) => {
    const { key, recoveryCodesLeft, status } = rest
    const codes = key === null ? '-' : `${recoveryCodesLeft}`
    return [userId, username, roleKey, enrolledAt ?? '-', key ?? '-', codes, inWords[status]]
  })
  io.out(formatTable([titles, ...rows]))
  return 0
}

const inWords = {
  ready: 'ready',
  'key-not-loaded': 'key not loaded: logins get 503',
  'too-many-failures': `off after ${maxFailures} wrong codes: only recovery codes work`,
  'not-enrolled': 'needed by the role: login refuses this account',
} as const

function statusOf(failures: number, hasKey: boolean): keyof typeof inWords {
  if (!hasKey) return 'key-not-loaded'
  return failures >= maxFailures ? 'too-many-failures' : 'ready'
}
