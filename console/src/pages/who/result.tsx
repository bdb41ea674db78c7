import type { PolicyWho, RoleByRule } from '#client'
import { addressOf } from '../../address.ts'
import type { ParametersOf } from '../../api.ts'
import { CodeLine } from '../../components/access/code-line.tsx'
import { throughColumn } from '../../components/access/through-column.ts'
import { CommandCsv } from '../../components/command-csv.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { Facts } from '../../components/facts.tsx'
import { Name } from '../../components/name.tsx'
import { Notes } from '../../components/notes.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { lineOf, placeOf } from '../../lib/rule-line.ts'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { texts as bilingual } from './texts.ts'

interface ResultProps {
  readonly answer: PolicyWho
  readonly question: ParametersOf<'policy/who'> & { readonly host: string | undefined }
}

/** The answer: what lets everyone through, `admin`, and the roles with their rules. */
export function Result({ answer, question }: ResultProps) {
  const { host } = question
  const texts = useTexts(bilingual)
  const common = useTexts(commonTexts)
  const { method, path, allows, roles, deniedRoles, otherMethods } = answer
  const call = `${method} ${path}`
  return (
    <>
      <p class={`summary ${allows}`} role="status">
        {allows === 'none' && answer.refused !== undefined
          ? answer.refused
          : texts.summary[allows](call, roles.length)}
      </p>
      <AboutCall answer={answer} />
      <div class="actions block">
        <CopyButton text={location.href} label={common.copyLink} />
        <CommandCsv operation="policy/who" parameters={question} />
      </div>
      <Roles title={texts.roles} roles={roles} {...{ answer, host }} />
      <Superusers answer={answer} />
      <Roles title={texts.denied} roles={deniedRoles} {...{ answer, host }} />
      {otherMethods.length > 0 && (
        <section>
          <h2>{texts.otherMethods}</h2>
          <ul class="stack">
            {otherMethods.map((rule) => (
              <li key={`${placeOf(rule.origin)} ${lineOf(rule)}`}>
                <CodeLine of={rule} />
              </li>
            ))}
          </ul>
        </section>
      )}
      <Notes of={answer.notes} />
    </>
  )
}

function AboutCall({ answer }: { answer: PolicyWho }) {
  const texts = useTexts(bilingual)
  const common = useTexts(commonTexts)
  const { route, access, upstream, endpoint, exclusion, admin, isUnserved } = answer
  const where = route === null ? undefined : <code>{route}</code>
  const adminMay = admin.allowed ? texts.adminMay : texts.adminMayNot
  return (
    <Facts
      of={[
        [texts.endpoint, endpoint],
        [texts.route, isUnserved ? texts.noRoute : where],
        [texts.routeAccess, access === null ? undefined : texts.access[access]],
        [texts.upstream, upstream],
        [texts.exclusion, exclusion && <CodeLine of={exclusion} />],
        [texts.reason, exclusion?.reason],
        [
          texts.admin,
          admin.accounts ? `${adminMay} (${texts.accountCount(admin.accounts)})` : adminMay,
        ],
        [common.policy, answer.policy],
        [common.revision, <code key="revision">{answer.revision}</code>],
      ]}
    />
  )
}

interface RolesProps {
  readonly title: string
  readonly roles: readonly RoleByRule[]
  readonly answer: PolicyWho
  readonly host: string | undefined
}

function Roles({ title, roles, answer, host }: RolesProps) {
  const texts = useTexts(bilingual)
  const common = useTexts(commonTexts)
  if (roles.length === 0) return null
  const { method, path } = answer
  const columns: readonly Column<RoleByRule>[] = [
    {
      id: 'role',
      title: common.role,
      cell: ({ roleKey }) => (
        <a href={addressOf('can', { role: roleKey, method, path, host })}>
          <Name text={roleKey} />
        </a>
      ),
      sort: ({ roleKey }) => roleKey,
    },
    {
      id: 'accounts',
      title: texts.accountsTitle,
      cell: ({ accounts }) => (accounts ? texts.accounts(accounts) : texts.unknown),
      sort: ({ accounts }) => accounts?.enabled,
      isNumeric: true,
    },
    throughColumn(common.through),
    {
      id: 'line',
      title: common.line,
      cell: ({ rule, until, alsoAllowedBy }) => (
        <>
          <CodeLine of={rule} until={until} />{' '}
          {alsoAllowedBy.length > 0 && (
            <span class="detail">{texts.also(alsoAllowedBy.length)}</span>
          )}
        </>
      ),
      sort: ({ rule }) => placeOf(rule.origin),
    },
  ]
  return (
    <section>
      <h2>
        {title} <span class="count">{roles.length}</span>
      </h2>
      <Table caption={title} rows={roles} keyOf={({ roleKey }) => roleKey} columns={columns} />
    </section>
  )
}

function Superusers({ answer: { superusers } }: { answer: PolicyWho }) {
  const texts = useTexts(bilingual)
  const common = useTexts(commonTexts)
  if (superusers.length === 0) return null
  return (
    <section>
      <h2>{texts.superusers}</h2>
      <Table
        caption={texts.superusers}
        rows={superusers}
        keyOf={({ roleKey }) => roleKey}
        columns={[
          { id: 'role', title: common.role, cell: (each) => each.roleKey },
          { id: 'clause', title: texts.clause, cell: ({ clause }) => <code>{clause}</code> },
        ]}
      />
    </section>
  )
}
