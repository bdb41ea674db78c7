import { decline } from '../../operations/declined.ts'
import { nameProblem } from '../../stores/accounts/account-name.ts'
import { adminKey } from '../../stores/accounts/last-admin.ts'
import { randomPassword } from '../../stores/accounts/random-password.ts'
import { passwordProblem } from '../accounts/user-password.ts'
import { UsageError } from '../command.ts'
import type { Io } from '../io.ts'
import { checkKey } from '../roles/role-text.ts'
import type { Template, TemplateValues } from './templates/template.ts'

interface InitOptions {
  readonly upstream: string | undefined
  readonly port: number | undefined
  readonly role: string
  readonly user: string | undefined
  readonly 'password-stdin': boolean
}

export interface FirstAccount {
  readonly name: string
  readonly password: string
  readonly isGenerated: boolean
}

/** What a project is made of. */
export interface Answers {
  readonly values: TemplateValues
  /** Absent where Postern has no accounts of its own. */
  readonly account: FirstAccount | undefined
}

/** What the options say, and on a terminal what the person answers. Throws `UsageError`. */
export async function readAnswers(
  options: InitOptions,
  template: Template,
  io: Io,
): Promise<Answers> {
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
    problem: upstreamProblem,
    io,
  })
  const { port = 8000, role } = options
  return {
    values: { upstream: upstream.replace(/\/$/, ''), port, role },
    account: template.hasAccounts ? await readAccount(options, io) : undefined,
  }
}

async function readAccount(options: InitOptions, io: Io): Promise<FirstAccount> {
  const own = io.userName ?? ''
  const name = await read('Name of your account', {
    given: options.user,
    option: '--user',
    suggested: nameProblem(own) === undefined ? own : 'admin',
    problem: nameProblem,
    io,
  })
  const password = options['password-stdin']
    ? (await io.readStdin()).replace(/\r?\n$/, '')
    : await typedPassword(name, io)
  if (password === '') return { name, password: randomPassword(), isGenerated: true }
  const problem = passwordProblem(password, name)
  if (problem !== undefined) throw new UsageError(problem)
  return { name, password, isGenerated: false }
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
    const wrong = passwordProblem(typed, name)
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

/** The file would say it too, but only after the other questions. */
function upstreamProblem(text: string): string | undefined {
  const url = URL.parse(text)
  const isPlain =
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    [text, `${text}/`].includes(`${url.origin}/`) &&
    url.hostname !== ''
  return isPlain
    ? undefined
    : `${JSON.stringify(text)} is not the address of a service: write scheme, host and port, such as http://127.0.0.1:3000`
}
