import type { RoleSummary } from '#client'
import { addressOf } from '../../address.ts'
import { Answered } from '../../components/answered.tsx'
import { CsvLink } from '../../components/csv-link.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { EmptyState } from '../../components/states.tsx'
import { type Column, Table } from '../../components/table.tsx'
import type { PageProps } from '../../pages.ts'
import { questions } from '../../questions.ts'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { useAnswer } from '../../use-answer.ts'
import { RoleDetails } from './role-details.tsx'
import { texts as bilingual } from './texts.ts'

/** The roles that accounts can have: all, or one with its accounts. */
export function Page({ query }: PageProps) {
  const texts = useTexts(bilingual)
  const { pages } = useTexts(commonTexts)
  const { key = '' } = query
  if (key !== '') return <RoleDetails roleKey={key} />
  return (
    <>
      <PageHeader title={pages.roles} about={texts.about} />
      <Roles />
    </>
  )
}

function Roles() {
  const texts = useTexts(bilingual)
  const { pages } = useTexts(commonTexts)
  const answer = useAnswer(...questions.roles())
  const columns: readonly Column<RoleSummary>[] = [
    {
      id: 'key',
      title: texts.key,
      cell: ({ roleKey }) => <a href={addressOf('roles', { key: roleKey })}>{roleKey}</a>,
      sort: ({ roleKey }) => roleKey,
    },
    { id: 'name', title: texts.name, cell: ({ name }) => name, sort: ({ name }) => name },
    {
      id: 'scope',
      title: texts.dataScope,
      cell: ({ dataScope, dataScopeName }) => dataScopeName ?? dataScope,
      sort: ({ dataScope }) => dataScope,
    },
    {
      id: 'users',
      title: texts.people,
      cell: ({ users }) => texts.users(users.enabled, users.disabled),
      sort: ({ users }) => users.enabled + users.disabled,
      isNumeric: true,
    },
    {
      id: 'services',
      title: texts.services,
      cell: ({ services }) => services,
      sort: ({ services }) => services,
      isNumeric: true,
    },
    {
      id: 'may',
      title: texts.may,
      cell: ({ roleKey }) => <a href={addressOf('role', { role: roleKey })}>{pages.role}</a>,
    },
  ]
  return (
    <Answered answer={answer}>
      {(roles) =>
        roles.length === 0 ? (
          <EmptyState title={texts.nothing} />
        ) : (
          <>
            <div class="actions block">
              <CsvLink name="roles" rows={() => csvOf(roles)} />
            </div>
            <Table
              caption={pages.roles}
              rows={roles}
              keyOf={({ roleId }) => roleId}
              columns={columns}
            />
          </>
        )
      }
    </Answered>
  )
}

function csvOf(roles: readonly RoleSummary[]) {
  const titles = ['id', 'key', 'name', 'data scope', 'enabled users', 'disabled users', 'services']
  const rows = roles.map(({ roleId, roleKey, name, dataScope, dataScopeName, users, services }) => [
    roleId,
    roleKey,
    name,
    dataScopeName ?? dataScope,
    users.enabled,
    users.disabled,
    services,
  ])
  return [titles, ...rows]
}
