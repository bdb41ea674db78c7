import type { AuditEntry } from '#client'
import { Answered } from '../../components/answered.tsx'
import { CsvLink } from '../../components/csv-link.tsx'
import { Filters } from '../../components/filters.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { EmptyState } from '../../components/states.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { changesIn } from '../../lib/changes.ts'
import type { PageProps } from '../../pages.ts'
import { questions } from '../../questions.ts'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { useAnswer } from '../../use-answer.ts'
import { texts as bilingual } from './texts.ts'

const groups = ['user', 'role', 'session', 'login', 'service', 'token', 'keys', 'policy'] as const

/** Who changed what. */
export function Page({ query }: PageProps) {
  const texts = useTexts(bilingual)
  const { pages } = useTexts(commonTexts)
  const [operation, question] = questions.audit(query)
  const answer = useAnswer(operation, question)
  const all = ['', texts.all] as const
  const filters = [
    { name: 'actor', label: texts.actor },
    { name: 'subject', label: texts.subject },
    {
      name: 'action',
      label: texts.action,
      choices: [all, ...groups.map((each) => [each, texts.groups[each]] as const)],
    },
    { name: 'since', label: texts.since, choices: [all, ...Object.entries(texts.spans)] },
  ]
  return (
    <>
      <PageHeader title={pages.audit} about={texts.about} />
      <Filters page="audit" query={query} filters={filters} />
      <Answered answer={answer}>
        {(entries) => <Entries entries={entries} most={question.limit} />}
      </Answered>
    </>
  )
}

function Entries({ entries, most }: { entries: readonly AuditEntry[]; most: number }) {
  const texts = useTexts(bilingual)
  const { pages } = useTexts(commonTexts)
  if (entries.length === 0) return <EmptyState title={texts.nothing} />
  const columns: readonly Column<AuditEntry>[] = [
    { id: 'at', title: texts.time, cell: ({ at }) => <Time at={at} />, sort: ({ at }) => at },
    {
      id: 'actor',
      title: texts.actor,
      cell: ({ actor }) => (
        <>
          {actor.name} <span class="detail">{actor.kind}</span>
        </>
      ),
      sort: ({ actor }) => actor.name,
    },
    {
      id: 'from',
      title: texts.from,
      cell: ({ actor }) => actor.origin,
      sort: ({ actor }) => actor.origin,
    },
    {
      id: 'action',
      title: texts.action,
      cell: ({ action }) => <code>{action}</code>,
      sort: ({ action }) => action,
    },
    {
      id: 'subject',
      title: texts.subject,
      cell: ({ subject }) => subject,
      sort: ({ subject }) => subject,
    },
    { id: 'change', title: texts.change, cell: (entry) => <ChangeList entry={entry} /> },
  ]
  return (
    <>
      <div class="section-head block">
        <p class="count">
          {entries.length < most ? texts.found(entries.length) : texts.newest(entries.length)}
        </p>
        <CsvLink name="audit" rows={() => csvOf(entries)} />
      </div>
      <Table caption={pages.audit} rows={entries} keyOf={({ id }) => id} columns={columns} />
    </>
  )
}

function ChangeList({ entry: { before, after } }: { entry: AuditEntry }) {
  return (
    <ul>
      {changesIn(before, after).map(({ name, from, to }) => (
        <li key={name}>
          {name}: {from !== undefined && <del>{from}</del>}
          {from !== undefined && to !== undefined && ' → '}
          {to !== undefined && <ins>{to}</ins>}
        </li>
      ))}
    </ul>
  )
}

function csvOf(entries: readonly AuditEntry[]) {
  const titles = ['at', 'actor', 'kind', 'from', 'action', 'subject', 'before', 'after']
  const rows = entries.map(({ at, actor, action, subject, before, after }) => [
    at,
    actor.name,
    actor.kind,
    actor.origin,
    action,
    subject,
    before === null ? '' : JSON.stringify(before),
    after === null ? '' : JSON.stringify(after),
  ])
  return [titles, ...rows]
}
