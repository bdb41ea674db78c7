import type { RoleComparison, RoleDifference, RoleDifferences } from '#client'
import { addressOf } from '../../address.ts'
import type { ParametersOf } from '../../api.ts'
import { CodeLine } from '../../components/access/code-line.tsx'
import { throughColumn } from '../../components/access/through-column.ts'
import { CommandCsv } from '../../components/command-csv.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { Name } from '../../components/name.tsx'
import { Notes } from '../../components/notes.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { placeOf } from '../../lib/rule-line.ts'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { texts as bilingual } from './texts.ts'

interface ComparisonProps {
  readonly answer: RoleComparison
  readonly question: ParametersOf<'policy/can'> & { readonly host: string | undefined }
}

/** What each of two roles may do and the other may not. */
export function Comparison({ answer, question }: ComparisonProps) {
  const { host } = question
  const common = useTexts(commonTexts)
  const { roleKey, comparedWith, more, less } = answer
  return (
    <>
      <div class="actions">
        <CopyButton text={location.href} label={common.copyLink} />
        <CommandCsv operation="policy/can" parameters={question} />
      </div>
      <Side one={roleKey} other={comparedWith} found={more} host={host} />
      <Side one={comparedWith} other={roleKey} found={less} host={host} />
      <Notes of={answer.notes} />
    </>
  )
}

interface SideProps {
  readonly one: string
  readonly other: string
  readonly found: RoleDifferences
  readonly host: string | undefined
}

function Side({ one, other, found: { differences, isEverything }, host }: SideProps) {
  const texts = useTexts(bilingual)
  const common = useTexts(commonTexts)
  const title = texts.more(one, other)
  const columns: readonly Column<RoleDifference>[] = [
    {
      id: 'method',
      title: common.method,
      cell: ({ rule }) => <code>{rule.method}</code>,
      sort: ({ rule }) => rule.method,
    },
    {
      id: 'path',
      title: common.path,
      cell: ({ rule, example }) => (
        <a href={addressOf('can', { role: one, ...example, host })}>
          <Name text={rule.path} isCode />
        </a>
      ),
      sort: ({ rule }) => rule.path,
    },
    {
      id: 'remark',
      title: texts.remark,
      cell: ({ isWhole, isUnserved }) => (
        <>
          <span class={`tag ${isWhole ? '' : 'part'}`}>{isWhole ? texts.whole : texts.partly}</span>{' '}
          {isUnserved && <span class="tag">{texts.notServed}</span>}
        </>
      ),
    },
    throughColumn(common.through),
    {
      id: 'line',
      title: common.line,
      cell: ({ rule, until }) => <CodeLine of={rule} until={until} />,
      sort: ({ rule }) => placeOf(rule.origin),
    },
  ]
  return (
    <section>
      <h2>
        {title} <span class="count">{differences.length}</span>
      </h2>
      {isEverything && <p>{texts.everything(one, other)}</p>}
      {!isEverything && differences.length === 0 && <p>{texts.same(one, other)}</p>}
      {differences.length > 0 && (
        <Table caption={title} rows={differences} keyOf={(_, at) => at} columns={columns} />
      )}
    </section>
  )
}
