import { accountSettings, withExistingDatabase } from '../../operations/configured-database.ts'
import { auditActions } from '../../stores/audit/audit-action.ts'
import { type AuditRecord, readAudit } from '../../stores/audit/read-audit.ts'
import type { Database } from '../../stores/database/database.ts'
import { didYouMean } from '../../suggest.ts'
import { type Call, type Run, UsageError } from '../command.ts'
import { durationMs } from '../duration.ts'
import { formatTable, json, jsonLine } from '../format.ts'
import { changeInWords } from './change-in-words.ts'
import type { listSpec } from './specs.ts'

/** Lists recorded changes, newest first. */
export const auditList: Run<typeof listSpec> = async ({ options }, io) => {
  const { since, actor, action, subject, limit, output } = options
  checkAction(action)
  const sinceMs = since === undefined ? undefined : durationMs('--since', since)
  const query = { sinceMs, actor, action, subject, limit }
  await withExistingDatabase(accountSettings(options.config, io), async (database) => {
    if (output === 'jsonl') {
      for await (const page of pages(database, query)) io.out(page.map(jsonLine).join(''))
      return
    }
    const records: AuditRecord[] = []
    for await (const page of pages(database, query)) records.push(...page)
    if (output === 'json') io.out(json(records))
    else if (records.length === 0) io.err('no changes recorded\n')
    else io.out(formatTable([titles, ...records.map(row)]))
  })
  return 0
}

const titles = ['AT', 'BY', 'FROM', 'ACTION', 'SUBJECT', 'CHANGE']

function row({ at, action, subject, before, after, actor }: AuditRecord): readonly string[] {
  const by = actor.kind === 'operator' ? actor.name : `${actor.name} (${actor.kind})`
  return [at, by, actor.origin, action, subject, changeInWords(before, after)]
}

/** A mistyped action would list nothing, which reads as "no such change happened". */
function checkAction(action: Call<typeof listSpec>['options']['action']): void {
  if (action === undefined) return
  const groups = auditActions.map((each) => each.slice(0, each.indexOf('.')))
  const known = new Set<string>([...groups, ...auditActions])
  if (known.has(action)) return
  const group = action.slice(0, Math.max(0, action.indexOf('.')))
  const near = auditActions.filter((each) => each.startsWith(`${group}.`))
  const hint = didYouMean(action, known)
  const choices = near.length > 0 && hint === '' ? near : [...new Set(groups)]
  throw new UsageError(
    `--action: ${JSON.stringify(action)} is not valid, use ${choices.join(', ')}${hint}`,
  )
}

/** Rows of one statement: the embedded database answers nothing else meanwhile. */
const pageSize = 1000

async function* pages(
  database: Database,
  query: Parameters<typeof readAudit>[1],
): AsyncGenerator<readonly AuditRecord[]> {
  let left = query.limit
  let beforeId: string | undefined
  while (left > 0) {
    const limit = Math.min(left, pageSize)
    const page = await readAudit(database, { ...query, beforeId, limit })
    if (page.length > 0) yield page
    if (page.length < limit) return
    left -= page.length
    beforeId = page.at(-1)?.id
  }
}
