import { isIP } from 'node:net'
import { addressBlock } from '../../login/address-block.ts'
import { foldedName } from '../../login/folded-name.ts'
import { accountKey, addressKey } from '../../login/throttle.ts'
import { createAccountDirectory } from '../../stores/accounts/account-directory.ts'
import { knownNames } from '../../stores/accounts/known-names.ts'
import type { Database } from '../../stores/database/database.ts'
import { didYouMean } from '../../suggest.ts'
import { type Run, UsageError } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { count, json, printable } from '../format.ts'
import { operator } from '../operator.ts'
import { maskedText } from './masked-names.ts'
import { type OpenLockout, withLockouts } from './open-lockouts.ts'
import type { unlockSpec } from './specs.ts'

/** Ends lock-outs on every gateway. */
export const loginUnlock: Run<typeof unlockSpec> = ({ arguments: [named], options }, io) => {
  const target = targetOf(named)
  return withLockouts(options.config, io, async ({ open, database, digestKey, shared, clear }) => {
    const matching = open.filter(target.matches)
    // Also without a record: Redis may have lost it, and wrong passwords so far are forgotten too.
    const related = target.keys(digestKey)
    const keys = matching.map(({ key }) => key)
    const account = target.kind === 'user' ? await accountOf(target.text, database) : undefined
    // Nothing deletes audit rows, so they must not hold a name that may be a password.
    const subject = target.kind === 'user' ? (account ?? maskedText) : target.text
    const before = { lockouts: matching.map(({ kind, block = '' }) => `${kind} ${block}`.trim()) }
    const entry = { actor: operator(io), action: 'login.unlock', subject, before } as const
    const ended = await clear({ keys, related }, entry)

    if (options.output === 'json') io.out(json({ [target.kind]: target.text, ended: ended.length }))
    if (ended.length === 0) {
      const isUnknown = target.kind === 'user' && account === undefined
      const hint = isUnknown ? await unknownHint(target.text, database) : ''
      io.err(`postern: nothing is locked out for ${target.kind} ${printable(target.text)}${hint}\n`)
      return exitCodes.no
    }
    const many = count(ended.length, 'lock-out')
    const when = shared ? '' : '; every gateway follows within two seconds'
    io.err(`postern: ended ${many} of ${target.kind} ${printable(target.text)}${when}\n`)
    return 0
  })
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
    throw new UsageError(`${JSON.stringify(text)} is a range: give one address`)
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
  return `: no account has this name${printable(didYouMean(name, names))}`
}
