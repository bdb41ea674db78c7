import { isDeepStrictEqual } from 'node:util'
import type { auditList } from '../../operations/audit/descriptions.ts'
import { formatTable } from '../format.ts'
import type { ViewOf } from '../view.ts'

export const auditListView: ViewOf<typeof auditList> = {
  text({ document }) {
    if (document.length === 0) return { out: '', err: 'no changes recorded\n' }
    const rows = document.map(({ at, action, subject, before, after, actor }) => {
      const by = actor.kind === 'operator' ? actor.name : `${actor.name} (${actor.kind})`
      return [at, by, actor.origin, action, subject, changeInWords(before, after)]
    })
    return formatTable([['AT', 'BY', 'FROM', 'ACTION', 'SUBJECT', 'CHANGE'], ...rows])
  },
}

/** A person reads a line; `--output json` has all of it. */
const maxValue = 60

/** `role editor -> viewer; note ci`: what was and what became of each field that differs. */
function changeInWords(before: unknown, after: unknown): string {
  const [was, became] = [fieldsOf(before), fieldsOf(after)]
  const names = new Set([...Object.keys(was), ...Object.keys(became)])
  const differing = [...names].filter((name) => !isDeepStrictEqual(was[name], became[name]))
  return differing.map((name) => inWords(name, was[name], became[name])).join('; ')
}

function inWords(name: string, was: unknown, became: unknown): string {
  if (was === undefined) return `${name} ${shown(became)}`
  return `${name} ${shown(was)} -> ${became === undefined ? '-' : shown(became)}`
}

/** Rows that someone inserted with SQL may have any JSON, or text that is not JSON. */
function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  if (value === null) return {}
  if (typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>
  return { value }
}

function shown(value: unknown): string {
  const text =
    typeof value === 'string'
      ? value
      : Array.isArray(value)
        ? value.map(shown).join(', ')
        : JSON.stringify(value)
  return text.length > maxValue ? `${text.slice(0, maxValue)}…` : text
}
