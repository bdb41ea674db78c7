import { didYouMean } from '../../kernel/suggest.ts'
import { auditActions } from '../../stores/audit/audit-action.ts'
import { type AuditRecord, readAudit } from '../../stores/audit/read-audit.ts'
import type { Database } from '../../stores/database/database.ts'
import { accountSettings, withExistingDatabase } from '../configured-database.ts'
import { durationMs } from '../duration.ts'
import { InvalidInput } from '../invalid-input.ts'
import type { RunOf, StreamOf } from '../operation.ts'
import type { auditList } from './descriptions.ts'

/** Lists recorded changes, newest first. */
export const run: RunOf<typeof auditList> = async (input, context) => {
  const document: AuditRecord[] = []
  await stream(input, context, (page) => void document.push(...page))
  return { document }
}

export const stream: StreamOf<typeof auditList> = async ({ since, ...input }, context, onPage) => {
  checkAction(input.action)
  const query = { ...input, sinceMs: since === undefined ? undefined : durationMs('since', since) }
  const settings = accountSettings(context.configFile, context)
  await withExistingDatabase(settings, async (database) => {
    for await (const page of pages(database, query)) onPage(page)
  })
}

/** A mistyped action would list nothing, which reads as "no such change happened". */
function checkAction(action: string | undefined): void {
  if (action === undefined) return
  const groups = auditActions.map((each) => each.slice(0, each.indexOf('.')))
  const known = new Set<string>([...groups, ...auditActions])
  if (known.has(action)) return
  const group = action.slice(0, Math.max(0, action.indexOf('.')))
  const near = auditActions.filter((each) => each.startsWith(`${group}.`))
  const hint = didYouMean(action, known)
  const choices = near.length > 0 && hint === '' ? near : [...new Set(groups)]
  throw new InvalidInput(
    'action',
    `${JSON.stringify(action)} is not valid, use ${choices.join(', ')}${hint}`,
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
