import { newRecoveryCodes } from '../../login/second-factor/recovery-codes.ts'
import { sealSecret } from '../../login/second-factor/sealed-secret.ts'
import {
  matchingStep,
  newTotpSecret,
  totpInvitation,
} from '../../login/second-factor/totp-codes.ts'
import { withDatabase } from '../../operations/configured-database.ts'
import { decline } from '../../operations/declined.ts'
import { tokenSettings } from '../../operations/tokens/configured-keys.ts'
import { answerRevoked, tokensOf } from '../../operations/tokens/revoke-tokens.ts'
import { createEnrollmentChanges } from '../../stores/second-factor/enrollment-changes.ts'
import { UsageError } from '../command.ts'
import { isConfirmed } from '../confirm.ts'
import { exitCodes } from '../exit-codes.ts'
import { json } from '../format.ts'
import type { Io } from '../io.ts'
import { operator } from '../operator.ts'
import { warnings } from '../view.ts'
import { declined, meantAccount, recoveryText, sealKeys, type TotpOptions } from './account.ts'

interface EnrollOptions extends TotpOptions {
  readonly 'no-confirm': boolean
  readonly yes: boolean
}

const tries = 3

/** Shows a new secret, has it confirmed, stores it and prints recovery codes. */
export async function enroll(name: string, options: EnrollOptions, io: Io): Promise<number> {
  const isJson = options.output === 'json'
  const confirmed = !options['no-confirm']
  if (isJson && confirmed) throw new UsageError('--output json asks nothing: add --no-confirm')
  const settings = tokenSettings(options.config, io)
  // Before anything is shown: without the keys the secret could not be stored.
  const keys = await sealKeys(settings)
  keys.current()
  // Closed before asking: an open connection could block others while a person thinks.
  const { username, userId, enrolled } = await withDatabase(settings, (database) =>
    meantAccount(name, database),
  )
  if (enrolled !== undefined && !options.yes) await confirmReplacing(username, io)
  if (confirmed && (io.isTerminal !== true || io.ask === undefined)) {
    decline(
      'stdin or stderr is not a terminal: to enroll without a code from the app, run again with --no-confirm',
    )
  }

  const { issuer } = settings.config.login.secondFactor
  const secret = newTotpSecret()
  const { uri, text } = await totpInvitation(secret, { issuer, username })
  if (!isJson) {
    io.out(
      `Scan this code with an authenticator app:\n\n${await qrCode(uri, io.isTerminal === true)}\n`,
    )
    io.out(`If you cannot scan it, type this secret into the app: ${text}\n\n`)
  }
  const lastStep = confirmed ? await confirmedStep(secret, username, io) : 0
  const recovery = newRecoveryCodes(secret)

  return withDatabase(settings, async (database) => {
    const result = await createEnrollmentChanges(database, operator(io)).enroll({
      ...{ username, userId, lastStep },
      secret: sealSecret(keys, userId, secret),
      recoveryDigests: recovery.map(({ digest }) => digest),
    })
    if (result !== 'done') return declined(result, username)
    // Tokens of logins with the password alone end, so that every live token had a second factor.
    const message = `user ${username} now logs in with one-time codes`
    const stale = tokensOf(username, [userId], message)
    const parts = { config: settings.config, database }
    const recoveryCodes = recovery.map(({ code }) => code)
    const done = { done: 'enroll', username, userId }
    const shown = { issuer, secret: text.replaceAll(' ', ''), uri, recoveryCodes }
    const { document, notes, outcome } = await answerRevoked(stale, parts, done, shown)
    io.err(warnings(notes))
    io.out(isJson ? json(document) : recoveryText(username, recoveryCodes))
    return exitCodes[outcome ?? 'done']
  })
}

async function confirmReplacing(username: string, io: Io): Promise<void> {
  const replaces = `user ${username} has one-time codes: new ones replace the app and the recovery codes`
  const unasked = `${replaces}; stdin or stderr is not a terminal, so run again with --yes`
  if (await isConfirmed(`${replaces}.`, unasked, io)) return
  decline(`the one-time codes of user ${username} stay`)
}

/** The time step of a right code that the user types, which then cannot be used to log in. */
async function confirmedStep(secret: Uint8Array, username: string, io: Io): Promise<number> {
  for (let left = tries; left > 0; left--) {
    const answer = (await io.ask?.('Code from the app: ')) ?? ''
    const code = answer.replaceAll(/\s/g, '')
    if (code === '') break
    const isCode = /^[0-9]{6}$/.test(code)
    const step = isCode ? await matchingStep(secret, code, io.now?.() ?? Date.now()) : undefined
    if (step !== undefined) return step
    const what = isCode ? 'wrong code: wait for the next one' : 'not a code: type the six digits'
    if (left > 1) io.err(`postern: ${what}\n`)
  }
  return decline(
    `user ${username} is not enrolled: no right code. Check the clocks of this machine and of the phone, and scan the new QR code of the next try`,
  )
}

/** Bright white on black: in a terminal with a light background the code would be inverted. */
const colors = { on: '\u001b[97;40m', off: '\u001b[0m' }

/**
 * A QR code of half-block characters, for a terminal. The border of four modules is what the standard
 * (ISO/IEC 18004) demands: with less, some scanners find nothing.
 */
async function qrCode(text: string, isTerminal: boolean): Promise<string> {
  const { renderUnicodeCompact } = await import('uqr')
  const { on, off } = isTerminal ? colors : { on: '', off: '' }
  const lines = renderUnicodeCompact(text, { border: 4 }).split('\n')
  return lines.map((line) => `${on}${line}${off}\n`).join('')
}
