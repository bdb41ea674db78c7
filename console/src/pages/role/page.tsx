import { useEffect, useState } from 'preact/hooks'
import type { RoleAccess, RoleComparison } from '#client'
import type { Query } from '../../address.ts'
import { Answered } from '../../components/answered.tsx'
import { Combobox } from '../../components/combobox.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { EmptyState } from '../../components/states.tsx'
import type { PageProps } from '../../pages.ts'
import { questions } from '../../questions.ts'
import { open } from '../../router.ts'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { useAnswer } from '../../use-answer.ts'
import { useNames } from '../../use-names.ts'
import { Comparison } from './comparison.tsx'
import { Permissions } from './permissions.tsx'
import { texts as bilingual } from './texts.ts'

/** Role: all that a role may do, or how it differs from another one. */
export function Page({ query }: PageProps) {
  const texts = useTexts(bilingual)
  const { pages } = useTexts(commonTexts)
  const { role = '', compare = '' } = query
  return (
    <>
      <PageHeader title={pages.role} about={texts.about} />
      <RoleForm query={query} />
      {role === '' ? (
        <EmptyState title={texts.start}>
          <p>{texts.startHint}</p>
        </EmptyState>
      ) : compare === '' ? (
        <Whole query={query} />
      ) : (
        <Compared query={query} />
      )}
    </>
  )
}

function Whole({ query }: { query: Query }) {
  const answer = useAnswer<'policy/can', RoleAccess>(...questions.can(query))
  return (
    <div class="block">
      <Answered answer={answer}>{(value) => <Permissions answer={value} query={query} />}</Answered>
    </div>
  )
}

function Compared({ query }: { query: Query }) {
  const [operation, question] = questions.can(query)
  const answer = useAnswer<'policy/can', RoleComparison>(operation, question)
  return (
    <div class="block">
      <Answered answer={answer}>
        {(value) => <Comparison answer={value} question={question} />}
      </Answered>
    </div>
  )
}

function RoleForm({ query }: { query: Query }) {
  const texts = useTexts(bilingual)
  const common = useTexts(commonTexts)
  const { roles } = useNames()
  const [role, setRole] = useState(query['role'] ?? '')
  const [compare, setCompare] = useState(query['compare'] ?? '')
  useEffect(() => {
    setRole(query['role'] ?? '')
    setCompare(query['compare'] ?? '')
  }, [query])
  const submit = (event: Event) => {
    event.preventDefault()
    open('role', { ...query, role: role.trim(), compare: compare.trim() })
  }
  return (
    <form class="form" onSubmit={submit}>
      <Combobox
        label={common.role}
        name="role"
        value={role}
        onValue={setRole}
        choices={roles}
        isRequired
      />
      <Combobox
        label={texts.compare}
        name="compare"
        value={compare}
        onValue={setCompare}
        choices={roles}
      />
      <button type="submit" class="primary">
        {texts.ask}
      </button>
    </form>
  )
}
