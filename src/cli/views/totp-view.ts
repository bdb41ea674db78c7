import type { userTotp } from '../../operations/accounts/descriptions.ts'
import type { Confirming } from '../../operations/accounts/one-time-codes.ts'
import { offAfter } from '../../operations/accounts/wrong-codes.ts'
import { decline } from '../../operations/declined.ts'
import type { DocumentOf } from '../../operations/operation.ts'
import { UsageError } from '../command.ts'
import { isConfirmed } from '../confirm.ts'
import { formatTable, jsonLine, jsonPieces, printable } from '../format.ts'
import type { PromptOf, ViewOf } from '../view.ts'

type Listed = Extract<DocumentOf<typeof userTotp>, readonly unknown[]>[number]

export const userTotpView: ViewOf<typeof userTotp> = {
  text({ document }) {
    if ('done' in document) return recoveryText(document)
    return formatTable([titles, ...document.map(rowOf)])
  },
  json: ({ document }) => ('done' in document ? jsonPieces(document) : jsonLine(document)),
}

function recoveryText({
  username = '',
  recoveryCodes,
}: Exclude<DocumentOf<typeof userTotp>, readonly unknown[]>): string {
  if (recoveryCodes === undefined) return ''
  const about = `Recovery codes of ${printable(username)}, shown once. Each works once in place of a one-time code:`
  return `${about}\n\n${recoveryCodes.map((code) => `  ${code}\n`).join('')}`
}

const titles = ['ID', 'NAME', 'ROLE', 'ENROLLED', 'KEY', 'RECOVERY CODES', 'STATUS']

function rowOf(account: Listed): readonly string[] {
  const { userId, username, roleKey, enrolledAt, key, recoveryCodesLeft } = account
  const codes = key === null ? '-' : `${recoveryCodesLeft}`
  return [userId, username, roleKey, enrolledAt ?? '-', key ?? '-', codes, statusInWords(account)]
}

function statusInWords({ status, failures }: Listed): string {
  switch (status) {
    case 'ready':
      return 'ready'
    case 'key-not-loaded':
      return 'key not loaded: logins get 503'
    case 'too-many-failures':
      return `${offAfter(failures)}: only recovery codes work`
    case 'not-enrolled':
      return 'needed by the role: login refuses this account'
  }
}

const tries = 3

/** Before one-time codes are replaced; then shows the new secret and has it confirmed. */
export const userTotpPrompt: PromptOf<typeof userTotp> = {
  words(plan) {
    const replaces = `user ${plan?.username} has one-time codes: new ones replace the app and the recovery codes`
    return {
      question: `${replaces}.`,
      unasked: `${replaces}; stdin or stderr is not a terminal, so run again with --yes`,
      declined: `the one-time codes of user ${plan?.username} stay`,
    }
  },
  async talk({ document: plan, shown }, input, { output, terminal, err }) {
    if (plan === null) return
    const needsCode = !input['no-confirm']
    if (output === 'json' && needsCode) {
      throw new UsageError('--output json asks nothing: add --no-confirm')
    }
    if (plan.replaces && !input.yes) {
      const { question, unasked, declined } = userTotpPrompt.words(plan, input)
      if (!(await isConfirmed(question, unasked, terminal))) decline(declined ?? '')
    }
    const { ask, isTerminal = false, out } = terminal
    if (needsCode && (!isTerminal || ask === undefined)) {
      decline(
        'stdin or stderr is not a terminal: to enroll without a code from the app, run again with --no-confirm',
      )
    }
    if (output === 'json') return
    out(`Scan this code with an authenticator app:\n\n${await qrCode(plan.uri, isTerminal)}\n`)
    out(`If you cannot scan it, type this secret into the app: ${plan.secret}\n\n`)
    const { problemOf } = shown as Confirming
    for (let left = needsCode ? tries : 0; left > 0; left--) {
      const code = (await ask?.('Code from the app: ')) ?? ''
      if (code.trim() === '') return
      const problem = await problemOf(code)
      if (problem === undefined) return
      if (left > 1) err(`postern: ${problem}\n`)
    }
  },
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
