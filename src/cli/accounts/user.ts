import { resolve } from 'node:path'
import { loadConfig } from '../../config/load.ts'
import type { Config } from '../../config/schema/schema.ts'
import { createPasswordHash } from '../../login/password-hash.ts'
import { createAccountChanges } from '../../stores/accounts/account-changes.ts'
import { randomPassword } from '../../stores/accounts/random-password.ts'
import { type Database, openDatabase } from '../../stores/database/database.ts'
import { json } from '../command.ts'
import type { Command, Io } from '../io.ts'
import { endTokensOf } from './revoke-tokens.ts'
import { parseUserArguments, type UserArguments, usage } from './user-arguments.ts'
import { changeAccount, type Outcome } from './user-change.ts'
import { formatAccounts } from './user-list.ts'
import { nameProblem, passwordProblem } from './user-password.ts'

/**
 * `user add|passwd|role|disable|enable|list` on the configured database, whether or not a gateway
 * has it open. A generated password is all that stands on stdout, once. Exit code 1: no such user
 * or role, or the name is taken; 2: arguments, a name or a password that cannot be used.
 */
export const userCommand: Command = async (args, io) => {
  if (args.includes('--help') || args.includes('-h')) {
    io.out(usage)
    return 0
  }
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
    return await carryOut(wanted, password, { config, database, io })
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

interface Parts {
  readonly config: Config
  readonly database: Database
  readonly io: Io
}

async function carryOut(wanted: UserArguments, password: string, parts: Parts): Promise<number> {
  const { database, io } = parts
  if (wanted.verb === 'list') {
    io.out(formatAccounts(await createAccountChanges(database).list(), wanted.output))
    return 0
  }

  const hash = password === '' ? '' : await createPasswordHash(one).hash(password)
  const outcome = await changeAccount(wanted, hash, database)
  const problem = await endTokens(outcome, parts)
  const also = ended(outcome, problem) ? '; every token until now has ended' : ''
  io.err(`postern: ${outcome.words}${also}\n`)
  if (!outcome.done) return 1

  const isGenerated = 'passwordFromStdin' in wanted && !wanted.passwordFromStdin
  if (wanted.output === 'json') {
    const shown = isGenerated ? { password } : {}
    const { name: username, verb: done } = wanted
    io.out(json({ done, username, tokensEnded: ended(outcome, problem), ...shown }))
  } else if (isGenerated) io.out(`${password}\n`)
  if (problem === undefined) return 0
  io.err(`postern: the tokens of ${wanted.name} go on working: ${problem}\n`)
  io.err(`postern: when that is mended, run: postern token revoke --user ${wanted.name}\n`)
  return 1
}

const one = { concurrency: 1, queue: 0 }

/** The account is changed already: what goes wrong here is to be told beside that. */
async function endTokens(
  { endTokensOf: userIds }: Outcome,
  { config, database }: Parts,
): Promise<string | undefined> {
  if (userIds.length === 0) return undefined
  try {
    await endTokensOf(userIds, config, database)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function ended({ endTokensOf: userIds }: Outcome, problem: string | undefined): boolean {
  return userIds.length > 0 && problem === undefined
}
