import { useMemo } from 'preact/hooks'
import type { CompactMatrix } from '#client'
import type { Query } from '../../address.ts'
import { Answered } from '../../components/answered.tsx'
import { CommandCsv } from '../../components/command-csv.tsx'
import { Notes } from '../../components/notes.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { EmptyState } from '../../components/states.tsx'
import { matrixView, shownOperations, shownRoles } from '../../lib/matrix-filters.ts'
import type { PageProps } from '../../pages.ts'
import { questions } from '../../questions.ts'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { useAnswer } from '../../use-answer.ts'
import { Filters } from './filters.tsx'
import { Grid } from './grid.tsx'
import { LeftOut } from './left-out.tsx'
import { Legend } from './legend.tsx'
import { texts as bilingual } from './texts.ts'

/** Matrix: roles and operations. */
export function Page({ query }: PageProps) {
  const texts = useTexts(bilingual)
  const { pages } = useTexts(commonTexts)
  const answer = useAnswer<'policy/matrix', CompactMatrix>(...questions.matrix(query))
  return (
    <>
      <PageHeader title={pages.matrix} about={texts.about} />
      <Filters query={query} />
      <Answered answer={answer}>{(value) => <Matrix answer={value} query={query} />}</Answered>
    </>
  )
}

function Matrix({ answer, query }: { answer: CompactMatrix; query: Query }) {
  const texts = useTexts(bilingual)
  const view = matrixView(query['view'])
  const { operations: words = '', roles: names = '', host } = query
  const operations = useMemo(() => shownOperations(answer, view, words), [answer, view, words])
  const roles = useMemo(() => shownRoles(answer.roles, names), [answer, names])
  if (view === 'nobody' || view === 'unserved' || view === 'routes') {
    return <LeftOut answer={answer} view={view} words={words} />
  }
  return (
    <>
      <div class="section-head matrix-head">
        <p role="status">{texts.count(operations.length, roles.length)}</p>
        <CommandCsv operation="policy/matrix" parameters={{ host, revision: query['revision'] }} />
      </div>
      {operations.length === 0 || roles.length === 0 ? (
        <EmptyState title={texts.nothing}>
          <p>{texts.nothingHint}</p>
        </EmptyState>
      ) : (
        <Grid operations={operations} roles={roles} letters={answer.cells} host={host} />
      )}
      <Legend />
      <Notes of={answer.notes} />
    </>
  )
}
