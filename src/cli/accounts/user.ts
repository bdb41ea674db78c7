import { createPasswordHash } from '../../login/password-hash.ts'
import { type Change, changeAccount } from '../../operations/accounts/change-account.ts'
import { accountSettings, withDatabase } from '../../operations/configured-database.ts'
import { revocationProblem } from '../../operations/tokens/revoke-tokens.ts'
import { stillValid } from '../../operations/tokens/still-valid.ts'
import { nameProblem } from '../../stores/accounts/account-name.ts'
import { randomPassword } from '../../stores/accounts/random-password.ts'
import type { Run } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { json, printable } from '../format.ts'
import type { Io } from '../io.ts'
import { operator } from '../operator.ts'
import type { addSpec, enableSpec, passwdSpec, roleSpec } from './specs.ts'
import { passwordProblem } from './user-password.ts'

export const userAdd: Run<typeof addSpec> = async ({ arguments: [name], options }, io) => {
  const password = await passwordFor(options, io)
  const problem = nameProblem(name) ?? passwordProblem(password.text, name)
  if (problem !== undefined) return unusable(problem, io)
  return carryOut({ verb: 'add', name, role: options.role }, { options, password, io })
}

export const userPasswd: Run<typeof passwdSpec> = async ({ arguments: [name], options }, io) => {
  const password = await passwordFor(options, io)
  const problem = passwordProblem(password.text, name)
  if (problem !== undefined) return unusable(problem, io)
  return carryOut({ verb: 'passwd', name }, { options, password, io })
}

export const userRole: Run<typeof roleSpec> = ({ arguments: [name, role], options }, io) =>
  carryOut({ verb: 'role', name, role, force: options.force }, { options, io })

export const userEnable: Run<typeof enableSpec> = ({ arguments: [name], options }, io) =>
  carryOut({ verb: 'enable', name }, { options, io })

interface Password {
  readonly text: string
  readonly isGenerated: boolean
}

async function passwordFor(
  options: { readonly 'password-stdin': boolean },
  io: Io,
): Promise<Password> {
  if (!options['password-stdin']) return { text: randomPassword(), isGenerated: true }
  return { text: (await io.readStdin()).replace(/\r?\n$/, ''), isGenerated: false }
}

function unusable(problem: string, io: Io): number {
  io.err(`postern: ${problem}\n`)
  return exitCodes.usage
}

interface Work {
  readonly options: { readonly config: string | undefined; readonly output: 'text' | 'json' }
  readonly password?: Password
  readonly io: Io
}

/** Changes the configured database, whether or not a gateway has it open. */
async function carryOut(wanted: Change, { options, password, io }: Work): Promise<number> {
  const settings = accountSettings(options.config, io)
  return withDatabase(settings, async (database) => {
    const hash = password && (await createPasswordHash(one).hash(password.text))
    const { protectedRoles = [] } = io
    const parts = { database, actor: operator(io), protectedRoles, passwordHash: hash ?? '' }
    const outcome = await changeAccount(wanted, parts)
    const problem = await revocationProblem(outcome.revokeTokensOf, settings.config, database)
    const tokensEnded = outcome.revokeTokensOf.length > 0 && problem === undefined
    const revoked = tokensEnded ? '; revoked all tokens issued until now' : ''
    io.err(`${printable(`postern: ${outcome.message}${revoked}`)}\n`)

    const shown = password?.isGenerated ? { password: password.text } : {}
    if (options.output === 'json') {
      const renamed = wanted.verb === 'rename' ? { newName: wanted.newName } : {}
      const done = { done: wanted.verb, username: wanted.name, ...renamed }
      io.out(json({ ...done, tokensEnded, ...shown }))
    } else if (password?.isGenerated) io.out(`${password.text}\n`)
    if (problem === undefined) return 0
    const still = stillValid(wanted.name, outcome.revokeTokensOf, problem)
    io.err(`${printable(`postern: ${still}`)}\n`)
    return exitCodes.unavailable
  })
}

const one = { concurrency: 1, queue: 0 }
