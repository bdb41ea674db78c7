import { didYouMean } from '../../kernel/suggest.ts'
import { newRecoveryCodes } from '../../login/second-factor/recovery-codes.ts'
import { keyName, openSecret, sealSecret } from '../../login/second-factor/sealed-secret.ts'
import { maxFailures } from '../../login/second-factor/second-factor.ts'
import { accountSettings, withDatabase } from '../../operations/configured-database.ts'
import { tokenSettings } from '../../operations/tokens/configured-keys.ts'
import { createAccountDirectory } from '../../stores/accounts/account-directory.ts'
import {
  createEnrollmentChanges,
  reencryptSecret,
} from '../../stores/second-factor/enrollment-changes.ts'
import {
  type EnrolledAccount,
  enrolledAccounts,
} from '../../stores/second-factor/enrollment-directory.ts'
import { type Call, type Run, UsageError } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { count, formatTable, json, jsonLine, printable } from '../format.ts'
import type { Io } from '../io.ts'
import { operator } from '../operator.ts'
import { declined, meantAccount, recoveryText, sealKeys, type TotpOptions } from './account.ts'
import { enroll } from './enroll.ts'
import type { totpSpec } from './specs.ts'

/** One-time codes of an account: enrolls, unless an option says otherwise. */
export const userTotp: Run<typeof totpSpec> = async (call, io) => {
  const [name] = call.arguments
  const action = actionOf(call.options)
  if (action === 'reencrypt') return reencryptAll(call.options, io)
  if (name === undefined || action === 'list') return listEnrollments(call.options, io)
  if (action === 'remove') return removeEnrollment(name, call.options, io)
  if (action === 'recovery-codes') return newCodes(name, call.options, io)
  return enroll(name, call.options, io)
}

type Options = Call<typeof totpSpec>['options']

const actions = ['list', 'reencrypt', 'remove', 'recovery-codes'] as const
const ofEnrolling = ['no-confirm', 'yes'] as const

function actionOf(options: Options): (typeof actions)[number] | 'enroll' {
  const [action, other] = actions.filter((each) => options[each])
  if (action === undefined) return 'enroll'
  const extra = other ?? ofEnrolling.find((each) => options[each])
  if (extra !== undefined) throw new UsageError(`--${action} cannot be combined with --${extra}`)
  return action
}

/** Lists accounts with one-time codes, and those that their role forbids to log in without. */
async function listEnrollments(options: TotpOptions, io: Io): Promise<number> {
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

/** Prints ten new recovery codes, which replace the old ones. */
async function newCodes(name: string, options: TotpOptions, io: Io): Promise<number> {
  const settings = tokenSettings(options.config, io)
  const keys = await sealKeys(settings)
  const { username, userId, codes } = await withDatabase(settings, async (database) => {
    const { username, userId, enrolled: secret } = await meantAccount(name, database)
    if (secret === undefined) return declined('not-enrolled', username)
    const codes = newRecoveryCodes(openSecret(keys, userId, secret))
    const recoveryDigests = codes.map(({ digest }) => digest)
    const changes = createEnrollmentChanges(database, operator(io))
    const wanted = { username, userId, secret, recoveryDigests }
    const result = await changes.replaceRecoveryCodes(wanted)
    if (result !== 'done') return declined(result, username)
    return { username, userId, codes: codes.map(({ code }) => code) }
  })
  io.err(`${printable(`postern: replaced the recovery codes of user ${username}`)}\n`)
  const done = { done: 'recovery-codes', username, userId, recoveryCodes: codes }
  io.out(options.output === 'json' ? json(done) : recoveryText(username, codes))
  return 0
}

/** Removes the one-time codes of an account, for example after its phone was lost. Needs no key. */
async function removeEnrollment(name: string, options: TotpOptions, io: Io): Promise<number> {
  const settings = accountSettings(options.config, io)
  const { username, userId, roleKey } = await withDatabase(settings, async (database) => {
    const meant = await meantAccount(name, database)
    const result = await createEnrollmentChanges(database, operator(io)).remove(meant)
    return result === 'done' ? meant : declined(result, meant.username)
  })
  const isNeeded = settings.config.login.secondFactor.roles.includes(roleKey)
  const next = isNeeded
    ? `; role ${roleKey} needs them, so login refuses the user until "postern user totp ${username}"`
    : ': the password alone is enough to log in'
  io.err(`${printable(`postern: removed the one-time codes of user ${username}${next}`)}\n`)
  if (options.output === 'json') io.out(json({ done: 'remove', username, userId }))
  return 0
}

/** Encrypts every secret with the key that signs now, so that older keys can be deleted. */
async function reencryptAll(options: TotpOptions, io: Io): Promise<number> {
  const settings = tokenSettings(options.config, io)
  const keys = await sealKeys(settings)
  const { id: keyId } = keys.current()
  const { done, lost } = await withDatabase(settings, async (database) => {
    const old = (await enrolledAccounts(database)).filter((each) => each.keyId !== keyId)
    const lost = old.filter((each) => keys.find(each.keyId) === undefined)
    let done = 0
    for (const account of old) {
      if (lost.includes(account)) continue
      const { userId } = account
      const renewed = sealSecret(keys, userId, openSecret(keys, userId, account))
      // A login that came first has done it.
      if (await reencryptSecret(database, userId, account, renewed)) done++
    }
    return { done, lost }
  })
  const key = keyName(keyId)
  io.err(`postern: encrypted the one-time codes of ${count(done, 'user')} with key ${key}\n`)
  for (const each of lost) io.err(`${printable(`postern: ${lostInWords(each)}`)}\n`)
  if (options.output === 'json') {
    const names = lost.map(({ username, keyId: old }) => ({ username, key: keyName(old) }))
    io.out(json({ done: 'reencrypt', key, users: done, keyNotLoaded: names }))
  }
  return lost.length === 0 ? 0 : exitCodes.no
}

function lostInWords({ username, keyId }: EnrolledAccount): string {
  return `user ${username}: key ${keyName(keyId)} is not loaded; restore it, or run "postern user totp ${username}"`
}
