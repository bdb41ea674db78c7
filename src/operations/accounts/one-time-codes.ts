import { count } from '../../kernel/count.ts'
import { didYouMean } from '../../kernel/suggest.ts'
import { newRecoveryCodes } from '../../login/second-factor/recovery-codes.ts'
import { keyName, openSecret, sealSecret } from '../../login/second-factor/sealed-secret.ts'
import { createAccountDirectory } from '../../stores/accounts/account-directory.ts'
import {
  createEnrollmentChanges,
  reencryptSecret,
} from '../../stores/second-factor/enrollment-changes.ts'
import {
  type EnrolledAccount,
  enrolledAccounts,
} from '../../stores/second-factor/enrollment-directory.ts'
import { accountSettings, withDatabase } from '../configured-database.ts'
import type { Context } from '../context.ts'
import { InvalidInput } from '../invalid-input.ts'
import type { DocumentOf, InputOf, ReviewOf } from '../operation.ts'
import { tokenSettings } from '../tokens/configured-keys.ts'
import type { userTotp } from './descriptions.ts'
import { type Confirming, reviewEnrollment } from './enroll.ts'
import { declined, meantAccount, sealKeys } from './enrolled-account.ts'
import { offAfter } from './wrong-codes.ts'

export type { Confirming }

/** One-time codes of an account: enrolls, unless the input says otherwise. */
export const review: ReviewOf<typeof userTotp> = async (input, context) => {
  const { name } = input
  const action = actionOf(input)
  const sure = { document: null, isSure: true } as const
  if (action === 'reencrypt') return { ...sure, commit: () => reencryptAll(context) }
  if (name === undefined || action === 'list') {
    return { ...sure, commit: () => listEnrollments(context) }
  }
  if (action === 'enroll') return reviewEnrollment(name, !input['no-confirm'], context)
  const change = action === 'remove' ? removeEnrollment : newCodes
  return { ...sure, commit: () => change(name, context) }
}

type Input = InputOf<typeof userTotp.input>

const actions = ['list', 'reencrypt', 'remove', 'recovery-codes'] as const
const ofEnrolling = ['no-confirm', 'yes'] as const

function actionOf(input: Input): (typeof actions)[number] | 'enroll' {
  const [action, other] = actions.filter((each) => input[each])
  if (action === undefined) return 'enroll'
  const extra = other ?? ofEnrolling.find((each) => input[each])
  if (extra === undefined) return action
  throw new InvalidInput(undefined, `--${action} cannot be combined with --${extra}`)
}

/** Lists accounts with one-time codes, and those that their role forbids to log in without. */
async function listEnrollments(context: Context) {
  const settings = tokenSettings(context.configFile, context)
  const keys = await sealKeys(settings)
  const { roles } = settings.config.login.secondFactor
  const { enrolled, accounts, roleKeys } = await withDatabase(settings, async (database) => {
    const directory = createAccountDirectory(database)
    const [accounts, roleKeys] = [await directory.list(), await directory.roleKeys()]
    return { enrolled: await enrolledAccounts(database), accounts, roleKeys }
  })
  const unknown = roles.filter((role) => !roleKeys.includes(role))
  const notes = unknown.map((role) => {
    const hint = didYouMean(role, roleKeys)
    return `note: login.secondFactor.roles: role "${role}" does not exist${hint}`
  })

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
  return { document: [...present, ...absent], notes }
}

type Status = Extract<DocumentOf<typeof userTotp>, readonly unknown[]>[number]['status']

function statusOf(failures: number, hasKey: boolean): Status {
  if (!hasKey) return 'key-not-loaded'
  return offAfter(failures) === undefined ? 'ready' : 'too-many-failures'
}

/** Makes ten new recovery codes, which replace the old ones. */
async function newCodes(name: string, context: Context) {
  const settings = tokenSettings(context.configFile, context)
  const keys = await sealKeys(settings)
  const { username, userId, codes } = await withDatabase(settings, async (database) => {
    const { username, userId, enrolled: secret } = await meantAccount(name, database)
    if (secret === undefined) return declined('not-enrolled', username)
    const codes = newRecoveryCodes(openSecret(keys, userId, secret))
    const recoveryDigests = codes.map(({ digest }) => digest)
    const changes = createEnrollmentChanges(database, context.actor)
    const wanted = { username, userId, secret, recoveryDigests }
    const result = await changes.replaceRecoveryCodes(wanted)
    if (result !== 'done') return declined(result, username)
    return { username, userId, codes: codes.map(({ code }) => code) }
  })
  return {
    document: { done: 'recovery-codes', username, userId, recoveryCodes: codes },
    notes: [`replaced the recovery codes of user ${username}`],
  }
}

/** Removes the one-time codes of an account, for example after its phone was lost. Needs no key. */
async function removeEnrollment(name: string, context: Context) {
  const settings = accountSettings(context.configFile, context)
  const { username, userId, roleKey } = await withDatabase(settings, async (database) => {
    const meant = await meantAccount(name, database)
    const result = await createEnrollmentChanges(database, context.actor).remove(meant)
    return result === 'done' ? meant : declined(result, meant.username)
  })
  const isNeeded = settings.config.login.secondFactor.roles.includes(roleKey)
  const next = isNeeded
    ? `; role ${roleKey} needs them, so login refuses the user until "postern user totp ${username}"`
    : ': the password alone is enough to log in'
  return {
    document: { done: 'remove', username, userId },
    notes: [`removed the one-time codes of user ${username}${next}`],
  }
}

/** Encrypts every secret with the key that signs now, so that older keys can be deleted. */
async function reencryptAll(context: Context) {
  const settings = tokenSettings(context.configFile, context)
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
  const keyNotLoaded = lost.map(({ username, keyId: old }) => ({ username, key: keyName(old) }))
  const encrypted = `encrypted the one-time codes of ${count(done, 'user')} with key ${key}`
  return {
    document: { done: 'reencrypt', key, users: done, keyNotLoaded },
    notes: [encrypted, ...lost.map(lostInWords)],
    ...(lost.length > 0 && { outcome: 'no' as const }),
  }
}

function lostInWords({ username, keyId }: EnrolledAccount): string {
  return `user ${username}: key ${keyName(keyId)} is not loaded; restore it, or run "postern user totp ${username}"`
}
