import { isIP } from 'node:net'
import { count } from '../../kernel/count.ts'
import { didYouMean } from '../../kernel/suggest.ts'
import { addressBlock } from '../../login/address-block.ts'
import { foldedName } from '../../login/folded-name.ts'
import { accountKey, addressKey } from '../../login/throttle.ts'
import { createAccountDirectory } from '../../stores/accounts/account-directory.ts'
import { knownNames } from '../../stores/accounts/known-names.ts'
import type { Database } from '../../stores/database/database.ts'
import { protectedAccount, protectedAccounts } from '../accounts/protected-accounts.ts'
import { NotPermitted } from '../declined.ts'
import { InvalidInput } from '../invalid-input.ts'
import type { RunOf } from '../operation.ts'
import type { loginUnlock } from './descriptions.ts'
import { maskedText } from './masked-names.ts'
import { type OpenLockout, withLockouts } from './open-lockouts.ts'

/** Ends lock-outs on every gateway. */
export const run: RunOf<typeof loginUnlock> = ({ user: named }, context) => {
  const target = targetOf(named)
  return withLockouts(context.configFile, context, async (lockouts) => {
    const { open, database, digestKey, shared, clear } = lockouts
    const untouchable = await protectedAccounts(database, context)
    if (untouchable.has(named)) throw protectedAccount(named)
    const account = await accountOf(named, database)
    // A user may have the name of an address: ending too much is the lesser mistake.
    const isBoth = target.kind === 'address' && account !== undefined
    const targets = isBoth ? [target, userTarget(named)] : [target]
    const found = open.filter((lockout) => targets.some(({ matches }) => matches(lockout)))
    // At an address there are also accounts that were attacked from there.
    const matching = found.filter(({ name = '' }) => !untouchable.has(name))
    const left = found.length - matching.length
    if (left > 0 && matching.length === 0) {
      throw new NotPermitted(
        `the lock-outs of ${named} are of administrators or publishers: only an account with role admin may end them`,
      )
    }
    // Also without a record: Redis may have lost it, and wrong passwords so far are forgotten too.
    const related = targets.flatMap((each) => each.keys(digestKey))
    const keys = matching.map(({ key }) => key)
    // Nothing deletes audit rows, so they must not hold a name that may be a password.
    const subject = target.kind === 'user' ? (account ?? maskedText) : target.text
    const before = inAuditLog(matching)
    const entry = { actor: context.actor, action: 'login.unlock', subject, before } as const
    const ended = await clear({ keys, related }, entry)

    const fields = targets.map(({ kind, text }) => [kind, text] as const)
    const document = { ...Object.fromEntries(fields), ended: ended.length }
    const notes =
      left > 0 ? [`note: left ${count(left, 'lock-out')} of administrators or publishers`] : []
    const whom = targets.map(({ kind, text }) => `${kind} ${text}`).join(' and ')
    if (ended.length === 0) {
      const isUnknown = target.kind === 'user' && account === undefined
      const hint = isUnknown ? await unknownHint(target.text, database) : ''
      notes.push(`nothing is locked out for ${whom}${hint}`)
      return { document, notes, outcome: 'no' as const }
    }
    const when = shared ? '' : '; every gateway follows within two seconds'
    notes.push(`ended ${count(ended.length, 'lock-out')} of ${whom}${when}`)
    return { document, notes }
  })
}

/** An attack locks an account out at thousands of addresses; the audit log omits what is too long. */
const mostRecorded = 100

function inAuditLog(lockouts: readonly OpenLockout[]) {
  const recorded = lockouts.slice(0, mostRecorded)
  const more = lockouts.length - recorded.length
  return {
    lockouts: recorded.map(({ kind, block = '' }) => `${kind} ${block}`.trim()),
    ...(more > 0 && { more }),
  }
}

interface Target {
  readonly kind: 'user' | 'address'
  readonly text: string
  matches(lockout: OpenLockout): boolean
  /** The keys of counts that are known without a record. */
  keys(digestKey: string): readonly string[]
}

function targetOf(text: string): Target {
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0) return userTarget(text)
  // The form in which "login locks" shows an IPv6 network.
  if (rest.length > 0 || (bits !== undefined && bits !== (version === 6 ? '64' : '32'))) {
    throw new InvalidInput(undefined, `${JSON.stringify(text)} is a range: give one address`)
  }
  const block = addressBlock(address)
  return {
    ...{ kind: 'address', text: block },
    matches: (lockout) => lockout.block === block,
    keys: (digestKey) =>
      (['login', 'captcha'] as const).flatMap((of) => [
        addressKey(digestKey, of, block, false),
        addressKey(digestKey, of, block, true),
      ]),
  }
}

function userTarget(text: string): Target {
  return {
    ...{ kind: 'user', text },
    matches: ({ name }) => name !== undefined && foldedName(name) === foldedName(text),
    keys: (digestKey) => [accountKey(digestKey, text)],
  }
}

async function accountOf(name: string, database: Database): Promise<string | undefined> {
  const [known] = await knownNames(database, [name])
  return known
}

async function unknownHint(name: string, database: Database): Promise<string> {
  const accounts = await createAccountDirectory(database).list()
  const names = accounts.map(({ username }) => username)
  return `: no account has this name${didYouMean(name, names)}`
}
