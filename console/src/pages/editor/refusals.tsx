import type { Denial, PolicyDenials } from '#client'
import { type Column, Table } from '../../components/table.tsx'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { texts as bilingual } from './texts.ts'

/** Which calls that gateways refused and counted the draft would allow. */
export function Refusals({ answer: { since, refusals, denials } }: { answer: PolicyDenials }) {
  const texts = useTexts(bilingual)
  const common = useTexts(commonTexts)
  const allowed = denials.filter(({ allowedNow }) => allowedNow === true)
  const columns: readonly Column<Denial>[] = [
    { id: 'count', title: texts.calls, cell: ({ count }) => count, isNumeric: true },
    { id: 'role', title: common.role, cell: ({ roleKey }) => roleKey },
    {
      id: 'call',
      title: texts.example,
      cell: ({ method, path }) => <code>{`${method} ${path ?? ''}`}</code>,
    },
  ]
  return (
    <div class="block">
      <p class="summary" role="status">
        {texts.refused(
          allowed.reduce((sum, { count }) => sum + count, 0),
          refusals,
          since,
        )}
      </p>
      {allowed.length > 0 && (
        <Table caption={texts.replay} columns={columns} rows={allowed} keyOf={(_, at) => at} />
      )}
    </div>
  )
}
