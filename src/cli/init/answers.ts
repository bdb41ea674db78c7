import { decline } from '../../operations/declined.ts'
import type { init } from '../../operations/init/descriptions.ts'
import { adminKey, problems } from '../../operations/init/problems.ts'
import type { Template } from '../../operations/init/templates/templates.ts'
import type { RunOf } from '../../operations/operation.ts'
import { checkKey } from '../../operations/roles/role-text.ts'
import { type Call, UsageError } from '../command.ts'
import type { Io } from '../io.ts'
import type { initSpec } from './specs.ts'

type Options = Call<typeof initSpec>['options']

/** What a project is made of. */
export type Answers = Omit<Parameters<RunOf<typeof init>>[0], 'dir' | 'template'> & {
  readonly upstream: string
  readonly port: number
}

/** What the options say, and on a terminal what the person answers. Throws `UsageError`. */
export async function readAnswers(options: Options, template: Template, io: Io): Promise<Answers> {
  checkKey(options.role)
  if (options.role === adminKey) {
    throw new UsageError(
      '--role: admin skips the permission check, so no policy is for it: name the role of your users, and add an admin later with "postern user add NAME --role admin"',
    )
  }
  const upstream = await read('Address of your service', {
    given: options.upstream,
    option: '--upstream',
    suggested: template.defaultUpstream,
    problem: problems.upstream,
    io,
  })
  const { port = 8000, role } = options
  const account = template.hasAccounts
    ? await readAccount(options, io)
    : { user: undefined, password: undefined }
  return { upstream: upstream.replace(/\/$/, ''), port, role, ...account }
}

async function readAccount(options: Options, io: Io): Promise<Pick<Answers, 'user' | 'password'>> {
  const own = io.userName ?? ''
  const user = await read('Name of your account', {
    given: options.user,
    option: '--user',
    suggested: problems.user(own) === undefined ? own : 'admin',
    problem: problems.user,
    io,
  })
  const password = options['password-stdin']
    ? (await io.readStdin()).replace(/\r?\n$/, '')
    : await typedPassword(user, io)
  if (password === '') return { user, password: undefined }
  const problem = problems.password(password, user)
  if (problem !== undefined) throw new UsageError(problem)
  return { user, password }
}

interface Question {
  readonly given: string | undefined
  readonly option: string
  readonly suggested: string
  readonly problem: (text: string) => string | undefined
  readonly io: Io
}

async function read(question: string, about: Question): Promise<string> {
  const { given, option, suggested, problem, io } = about
  if (given !== undefined) {
    const wrong = problem(given)
    if (wrong !== undefined) throw new UsageError(`${option}: ${wrong}`)
    return given
  }
  if (!canAsk(io)) return suggested
  for (;;) {
    const answer = (await io.prompt(`${question} [${suggested}]: `)) ?? aborted()
    const chosen = answer.trim() || suggested
    const wrong = problem(chosen)
    if (wrong === undefined) return chosen
    io.err(`${wrong}\n`)
  }
}

/** The typed password; empty: generate one. */
async function typedPassword(name: string, io: Io): Promise<string> {
  if (!canAsk(io)) return ''
  for (;;) {
    const question = `Password of ${name} (empty: generate one): `
    const typed = (await io.prompt(question, { isHidden: true })) ?? aborted()
    if (typed === '') return typed
    const wrong = problems.password(typed, name)
    if (wrong !== undefined) {
      io.err(`${wrong}\n`)
      continue
    }
    const again = (await io.prompt('Repeat the password: ', { isHidden: true })) ?? aborted()
    if (again === typed) return typed
    io.err('the two passwords differ\n')
  }
}

function canAsk(io: Io): io is Io & Required<Pick<Io, 'prompt'>> {
  return io.isTerminal === true && io.prompt !== undefined
}

function aborted(): never {
  decline('nothing was written: the questions were not answered')
}
