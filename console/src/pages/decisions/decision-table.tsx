import { addressOf } from '../../address.ts'
import { Mark } from '../../components/access/verdict.tsx'
import { Name } from '../../components/name.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { explanationOf, type NumberedDecision } from '../../lib/live/decisions.ts'
import { formatClock } from '../../lib/times.ts'
import { language } from '../../state/preferences.ts'
import { useStore } from '../../state/store.ts'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { texts as bilingual } from './texts.ts'

interface DecisionTableProps {
  /** Newest first. */
  readonly decisions: readonly NumberedDecision[]
  readonly current: { readonly revision: string; readonly isPublished: boolean } | undefined
}

/** One line for each decision. It does not sort: lines that move would be hard to read. */
export function DecisionTable({ decisions, current }: DecisionTableProps) {
  const texts = useTexts(bilingual)
  const common = useTexts(commonTexts)
  const reader = useStore(language)
  const columns: readonly Column<NumberedDecision>[] = [
    {
      id: 'at',
      title: texts.time,
      cell: ({ at }) => (
        <time dateTime={at} title={at}>
          {formatClock(reader, at)}
        </time>
      ),
    },
    {
      id: 'verdict',
      title: texts.verdict,
      cell: ({ result }) => <Mark outcome={result === 'allow' ? 'allowed' : 'denied'} />,
    },
    {
      id: 'role',
      title: texts.role,
      cell: ({ role, user }) => (
        <>
          {role === undefined ? <span class="detail">{texts.noRole}</span> : <Name text={role} />}
          {user !== undefined && <span class="detail"> {texts.user(user)}</span>}
        </>
      ),
    },
    {
      id: 'call',
      title: texts.request,
      cell: ({ method, path }) => (
        <>
          <code>{method}</code>{' '}
          {path === undefined ? (
            <span class="detail">{texts.hiddenPath}</span>
          ) : (
            <Name text={path} isCode />
          )}
        </>
      ),
    },
    {
      id: 'why',
      title: texts.why,
      cell: ({ reason, rule }) => (
        <>
          {reasonInWords(reason, texts)}
          {rule !== undefined && <span class="detail"> {rule}</span>}
        </>
      ),
    },
    { id: 'gateway', title: texts.gateway, cell: ({ gateway }) => <Name text={gateway} /> },
    {
      id: 'explain',
      title: texts.explanation,
      cell: (decision) => {
        const query = explanationOf(decision, current)
        return query && <a href={addressOf('can', query)}>{common.explain}</a>
      },
    },
  ]
  return (
    <Table
      caption={texts.decisions}
      rows={decisions}
      keyOf={({ number }) => number}
      columns={columns}
    />
  )
}

function reasonInWords(reason: string, { reasons }: typeof bilingual.en): string {
  return (reasons as Readonly<Record<string, string>>)[reason] ?? reason
}
