import { resolve } from 'node:path'
import { loadConfig } from '../config/load.ts'
import { createPasswordHash } from '../login/password-hash.ts'
import { type AccountChanges, createAccountChanges } from '../stores/account-changes.ts'
import { openDatabase } from '../stores/database.ts'
import { randomPassword } from '../stores/random-password.ts'
import type { Command, Io } from './io.ts'
import { parseUserArguments, type UserArguments, usage } from './user-arguments.ts'
import { formatAccounts } from './user-list.ts'
import { nameProblem, passwordProblem } from './user-password.ts'

/**
 * `user add|passwd|list|disable` on the configured database, whether or not a gateway has it open.
 * A generated password is all that stands on stdout, once. Exit code 1: no such user or role, or
 * the name is taken; 2: arguments, a name or a password that cannot be used.
 */
export const userCommand: Command = async (args, io) => {
  const wanted = parseUserArguments(args)
  if (wanted === undefined) {
    io.err(usage)
    return 2
  }
  const password = await passwordFor(wanted, io)
  const problem = problemWith(wanted, password)
  if (problem !== undefined) {
    io.err(`postern: ${problem}\n`)
    return 2
  }

  const config = loadConfig({ file: wanted.config, env: io.env, cwd: io.cwd })
  const directory = resolve(io.cwd, config.application.dataDirectory)
  const database = await openDatabase({ ...config.database, directory })
  try {
    return await carryOut(wanted, password, { accounts: createAccountChanges(database), io })
  } finally {
    await database.close()
  }
}

async function passwordFor(wanted: UserArguments, io: Io): Promise<string> {
  if (wanted.verb !== 'add' && wanted.verb !== 'passwd') return ''
  if (!wanted.passwordFromStdin) return randomPassword()
  return (await io.readStdin()).replace(/\r?\n$/, '')
}

function problemWith(wanted: UserArguments, password: string): string | undefined {
  if (wanted.verb === 'add') return nameProblem(wanted.name) ?? passwordProblem(password)
  return wanted.verb === 'passwd' ? passwordProblem(password) : undefined
}

async function carryOut(
  wanted: UserArguments,
  password: string,
  { accounts, io }: { accounts: AccountChanges; io: Io },
): Promise<number> {
  if (wanted.verb === 'list') {
    io.out(formatAccounts(await accounts.list(), wanted.output))
    return 0
  }

  const [done, words] = await change(wanted, password, accounts)
  io.err(`postern: ${words}\n`)
  if (!done) return 1
  if (wanted.verb !== 'disable' && !wanted.passwordFromStdin) io.out(`${password}\n`)
  return 0
}

async function change(
  wanted: Exclude<UserArguments, { verb: 'list' }>,
  password: string,
  accounts: AccountChanges,
): Promise<readonly [done: boolean, words: string]> {
  const { verb, name } = wanted
  const unknown = [false, `no such user: ${JSON.stringify(name)}`] as const
  if (verb === 'disable') {
    return (await accounts.disable(name)) ? [true, `user ${name} is disabled`] : unknown
  }

  const passwordHash = await createPasswordHash({ concurrency: 1, queue: 0 }).hash(password)
  if (verb === 'passwd') {
    const changed = await accounts.setPassword(name, passwordHash)
    return changed ? [true, `user ${name} has a new password`] : unknown
  }
  const outcome = await accounts.add({ username: name, roleKey: wanted.role, passwordHash })
  if (outcome === 'added') return [true, `user ${name} is added with role ${wanted.role}`]
  return outcome === 'name-taken'
    ? [false, `the name is taken: ${name}`]
    : [false, `no such role: ${JSON.stringify(wanted.role)}`]
}
