import type { UserSummary } from '#client'
import { addressOf } from '../../address.ts'
import { Answered } from '../../components/answered.tsx'
import { CsvLink } from '../../components/csv-link.tsx'
import { Filters } from '../../components/filters.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { EmptyState } from '../../components/states.tsx'
import { type Column, Table } from '../../components/table.tsx'
import type { PageProps } from '../../pages.ts'
import { questions } from '../../questions.ts'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { useAnswer } from '../../use-answer.ts'
import { AddUser } from './add-user.tsx'
import { Person } from './person.tsx'
import { texts as bilingual } from './texts.ts'

/** Accounts: all, or one with everything about it. */
export function Page({ query }: PageProps) {
  const texts = useTexts(bilingual)
  const { pages } = useTexts(commonTexts)
  const { name = '' } = query
  if (name !== '') return <Person name={name} />
  return (
    <>
      <PageHeader title={pages.people} about={texts.about} />
      <Accounts query={query} />
    </>
  )
}

function Accounts({ query }: PageProps) {
  const texts = useTexts(bilingual)
  const { pages } = useTexts(commonTexts)
  const answer = useAnswer(...questions.users())
  const choice = (pairs: Readonly<Record<string, string>>) =>
    [['', texts.all] as const, ...Object.entries(pairs)] as const
  const { text, state, kind } = query
  const filters = [
    { name: 'text', label: texts.nameOrRole },
    { name: 'state', label: texts.state, choices: choice(texts.states) },
    { name: 'kind', label: texts.kind, choices: choice(texts.kinds) },
  ]
  return (
    <>
      <Filters page="people" query={query} filters={filters} />
      <Answered answer={answer}>
        {(all) => {
          const found = all.filter((each) => isFound(each, { text, state, kind }))
          return (
            <>
              <div class="section-head block">
                <p class="count">{texts.found(found.length, all.length)}</p>
                <div class="actions">
                  <AddUser onDone={answer.reload} />
                  {found.length > 0 && <CsvLink name="accounts" rows={() => csvOf(found)} />}
                </div>
              </div>
              {found.length === 0 ? (
                <EmptyState title={texts.nothing} />
              ) : (
                <AccountTable caption={pages.people} accounts={found} />
              )}
            </>
          )
        }}
      </Answered>
    </>
  )
}

function isFound(
  { username, roleKey, enabled, kind }: UserSummary,
  wanted: Readonly<Record<'text' | 'state' | 'kind', string | undefined>>,
): boolean {
  const text = (wanted.text ?? '').toLowerCase()
  return (
    (username.toLowerCase().includes(text) || roleKey.toLowerCase().includes(text)) &&
    (!wanted.state || wanted.state === (enabled ? 'enabled' : 'disabled')) &&
    (!wanted.kind || wanted.kind === kind)
  )
}

function AccountTable({
  caption,
  accounts,
}: {
  caption: string
  accounts: readonly UserSummary[]
}) {
  const texts = useTexts(bilingual)
  const common = useTexts(commonTexts)
  const columns: readonly Column<UserSummary>[] = [
    {
      id: 'name',
      title: texts.name,
      cell: ({ username }) => <a href={addressOf('people', { name: username })}>{username}</a>,
      sort: ({ username }) => username,
    },
    {
      id: 'role',
      title: common.role,
      cell: ({ roleKey }) =>
        roleKey === '' ? <span class="tag no">{texts.noRole}</span> : <code>{roleKey}</code>,
      sort: ({ roleKey }) => roleKey,
    },
    {
      id: 'state',
      title: texts.state,
      cell: ({ enabled, kind }) =>
        kind === 'service' ? (
          texts.noLogin
        ) : (
          <span class={enabled ? 'tag yes' : 'tag no'}>
            {enabled ? texts.states.enabled : texts.states.disabled}
          </span>
        ),
      sort: ({ enabled }) => Number(enabled),
    },
    {
      id: 'kind',
      title: texts.kind,
      cell: ({ kind }) => texts.kinds[kind],
      sort: ({ kind }) => kind,
    },
    {
      id: 'codes',
      title: texts.codes,
      cell: ({ secondFactor }) => (secondFactor ? texts.yes : texts.no),
      sort: ({ secondFactor }) => Number(secondFactor),
    },
    {
      id: 'id',
      title: texts.id,
      cell: ({ userId }) => userId,
      sort: ({ userId }) => Number(userId),
      isNumeric: true,
    },
  ]
  return (
    <Table
      caption={caption}
      rows={accounts}
      keyOf={({ userId }) => userId}
      columns={columns}
      initial={{ column: 'name', isDescending: false }}
    />
  )
}

function csvOf(accounts: readonly UserSummary[]) {
  const titles = ['id', 'name', 'role', 'enabled', 'kind', 'one-time codes']
  const rows = accounts.map(({ userId, username, roleKey, enabled, kind, secondFactor }) => [
    userId,
    username,
    roleKey,
    String(enabled),
    kind,
    String(secondFactor),
  ])
  return [titles, ...rows]
}
