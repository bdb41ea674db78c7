import { basename } from 'node:path'
import type { DocumentOf } from '../../operations/operation.ts'
import { countWords } from '../../operations/policy/account-counts.ts'
import type { policyDiff } from '../../operations/policy/check-descriptions.ts'
import { slowNote, slownessOf } from '../../operations/policy/engine-cost.ts'
import { isPublished } from '../../operations/policy/versions.ts'
import { formatTable } from '../format.ts'
import { type Case, type Level, type Result, rulesOf } from '../report/report.ts'
import reportRules from '../report/rules.json' with { type: 'json' }
import { type ReportingOf, reportView } from '../report/write.ts'
import { noteLines } from '../view.ts'
import { formatAccess, summaryOf, verdictOf } from './access.ts'
import { changesOf, describeChange, momentOf, type ShownChange } from './change-in-words.ts'

const parts: ReportingOf<typeof policyDiff, readonly string[]> = {
  text: ({ document }) => textOf(document),
  err({ document }, _, output) {
    if (output === 'json') return ''
    const isFile = output !== 'text' && output !== 'github'
    return (isFile ? textOf(document) : '') + noteLines(document.notes)
  },
  /** The access that a new policy adds and removes. */
  report({ document, shown = [] }, { from = 'live', 'this-gateway': onlyHere }) {
    const { changes, engine } = document
    const notes = [...document.notes, slownessOf(engine)].filter((note) => note !== undefined)
    const results = changesOf(document).map((each) =>
      resultOf(each, { from, files: shown, onlyHere }),
    )
    return {
      command: 'policy diff',
      verdict: verdictOf(document),
      summary: [
        `${document.from} -> ${document.to}`,
        ...(changes.length === 0 ? [] : [summaryOf(changes)]),
        ...accountRows(document).map((row) => row.join(' ')),
        ...notes.map((note) => `note: ${note}`),
      ],
      failsAt: 'warning',
      rules: rulesOf(kinds),
      results,
      suites: [{ name: 'policy diff', cases: casesOf(results) }],
    }
  },
}
export const policyDiffView = reportView(parts)

function textOf(document: Document): string {
  const rows = accountRows(document)
  const found = rows.length === 0 ? ' none\n' : `\n${formatTable(rows, '  ')}`
  const accounts = document.accounts === undefined ? '' : `accounts that gain or lose:${found}`
  return slowNote(document.engine) + accounts + formatAccess(document)
}

function accountRows({ accounts = [] }: Document): readonly (readonly string[])[] {
  return accounts.map(({ roleKey, gains, loses, ...counts }) => {
    return [`${gains ? '+' : ''}${loses ? '-' : ''}`, roleKey, countWords(counts)]
  })
}

type Document = DocumentOf<typeof policyDiff>

/** How much each matters in a report. */
const levels: Readonly<Record<ShownChange['severity'], Level>> = {
  ...{ superuser: 'error', unchecked: 'error', wide: 'error' },
  ...{ changing: 'warning', reading: 'warning', uncertain: 'warning', loss: 'note' },
}
const kinds = reportRules['policy diff']

/** The old side as the user named it, and the files of the new one. */
interface Compared {
  readonly from: string
  readonly files: readonly string[]
  /** Whether gains without effect at a gateway with this configuration are only notes. */
  readonly onlyHere: boolean
}

function resultOf(change: ShownChange, { from, files, onlyHere }: Compared): Result {
  const { sign, who, what, notes } = describeChange(change)
  const { origin, severity, line, startsAt } = change
  const { id: rule } = kinds[severity]
  const level = onlyHere && !change.hasEffect ? 'note' : levels[severity]
  const text = [who, ...what].join(' ')
  const place = `${origin.file}:${origin.line}`
  const isAdded = line === 'added'
  // A line that is in both policies changes access when it expires in one of them.
  const by = isAdded ? `by ${place}` : `by ${place}${of(from)}`
  const now = isAdded ? `added in ${place}` : `removed from ${place}${of(from)}`
  const about = [...(startsAt === undefined ? [now] : [by, momentOf(change)]), ...notes]
  const message = `${text} (${about.join(', ')})`
  return { rule, level, message, text, sign, ...placeIn(files, change) }
}

function of(version: string): string {
  return isPublished(version) ? ` of ${version}` : ''
}

/** The line if it was added. A removed line has no place any more: the top of the file that had it. */
function placeIn(files: readonly string[], { line, origin }: ShownChange) {
  if (line === 'added' && files.includes(origin.file)) return origin
  const name = basename(origin.file)
  const file = files.find((each) => basename(each) === name) ?? files[0]
  return file === undefined ? {} : { file, line: 1 }
}

/** A case for each change; a gain fails. */
function casesOf(results: readonly Result[]): readonly Case[] {
  if (results.length === 0) return [{ name: 'access stays the same', className: 'policy diff' }]
  return results.map(({ rule, level, message, text = '', sign, ...at }) => ({
    name: `${sign} ${text}`,
    className: rule,
    ...(at.file !== undefined && { file: at.file }),
    ...(at.line !== undefined && { line: at.line }),
    [level === 'note' ? 'notes' : 'failures']: [message],
  }))
}
