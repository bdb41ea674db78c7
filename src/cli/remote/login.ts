import { Fault } from '../../kernel/errors.ts'
import { readJson } from '../../kernel/json.ts'
import { decline } from '../../operations/declined.ts'
import { type Call, type Run, UsageError } from '../command.ts'
import { printable } from '../format.ts'
import type { Io } from '../io.ts'
import { keepSession, loginMs, notAConsole, readError } from './api-session.ts'
import { askCaptcha } from './captcha.ts'
import { type Gateway, openGateway } from './gateway.ts'
import { type ApiReply, send } from './send.ts'
import type { loginSpec } from './specs.ts'

/** Pictures that are hard to read are common; passwords are not guessed here. */
const mostTries = 5

type Options = Call<typeof loginSpec>['options']

/** Logs in and keeps the session. */
export const gatewayLogin: Run<typeof loginSpec> = async ({ options }, io) => {
  const gateway = openGateway(options, io)
  const { hasPassword, hasCaptcha } = await readMethods(gateway)
  if (!hasPassword) {
    throw new Fault('gateway', {
      reason: `${gateway.origin} accepts single sign-on only, which needs a browser: use its console`,
    })
  }
  const isAsking = io.isTerminal === true && !options['password-stdin']
  if (hasCaptcha && !isAsking) {
    throw new Fault('gateway', {
      reason: `${gateway.origin} wants a captcha, as every mode but dev does: log in at a terminal`,
    })
  }
  const { provider } = options
  const credentials = {
    ...(await readCredentials(options, io)),
    ...(provider !== undefined && { provider }),
  }
  const attempt = async (otp?: string) => {
    const proof = hasCaptcha ? await askCaptcha(gateway, io) : {}
    const body = { ...credentials, ...proof, ...(otp !== undefined && { otp }) }
    return send(gateway, { method: 'POST', path: 'login', body, timeoutMs: loginMs })
  }
  let otp: string | undefined
  for (let tries = 1; ; tries++) {
    const answer = await attempt(otp)
    const kind = answer.status === 200 ? '' : readError(answer).kind
    if (kind === 'otp-needed' && otp === undefined) otp = await askCode(io)
    else if (kind === 'wrong-captcha' && tries < mostTries) io.err('Wrong text: try this one.\n')
    else return report(gateway, answer, io)
  }
}

async function report(gateway: Gateway, answer: ApiReply, io: Io): Promise<number> {
  if (answer.status !== 200) {
    const { message, status } = readError(answer)
    if (status >= 500) throw new Fault('gateway', { reason: message })
    return decline(`${gateway.origin} refused: ${message}`)
  }
  const { username } = await keepSession(gateway, answer, io)
  const { role } = readJson(answer.text) as { readonly role?: unknown }
  io.out(`${printable(`logged in to ${gateway.origin} as ${username} (${role})`)}\n`)
  return 0
}

async function readMethods(gateway: Gateway) {
  const { status, text } = await send(gateway, {
    ...{ method: 'GET', path: 'providers', timeoutMs: loginMs },
  })
  const { password, captcha } = (readJson(text) ?? {}) as Partial<Record<string, unknown>>
  if (status !== 200 || typeof password !== 'boolean' || typeof captcha !== 'boolean') {
    throw notAConsole(gateway)
  }
  return { hasPassword: password, hasCaptcha: captcha }
}

async function readCredentials(options: Options, io: Io) {
  const isPiped = options['password-stdin']
  const { prompt } = io.isTerminal === true ? io : {}
  const username = options.user ?? (isPiped ? undefined : await prompt?.('User name: '))
  if (!username) throw new UsageError('--user is required: give your user name')
  if (isPiped) {
    return { username, password: (await io.readStdin()).replace(/\r?\n$/, '') }
  }
  if (prompt === undefined) {
    throw new UsageError('stdin or stderr is not a terminal: add --password-stdin')
  }
  const question = printable(`Password of ${username}: `)
  const password = (await prompt(question, { isHidden: true })) ?? decline('not logged in')
  return { username, password }
}

async function askCode(io: Io): Promise<string> {
  if (io.isTerminal !== true || io.prompt === undefined) {
    throw new Fault('gateway', {
      reason: 'the account has one-time codes: log in at a terminal, which asks for one',
    })
  }
  return (await io.prompt('One-time code: ')) ?? decline('not logged in')
}
