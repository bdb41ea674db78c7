import type { CompactMatrix } from '#client'
import { type Call, callColumns } from '../../components/access/call-columns.tsx'
import { Name } from '../../components/name.tsx'
import { Table } from '../../components/table.tsx'
import { hasWords } from '../../lib/matrix-filters.ts'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { texts as bilingual } from './texts.ts'

interface LeftOutProps {
  readonly answer: CompactMatrix
  readonly view: 'nobody' | 'unserved' | 'routes'
  readonly words: string
}

/** What has no row in the matrix: nobody gets through, or no rule is about it. */
export function LeftOut({ answer, view, words }: LeftOutProps) {
  const texts = useTexts(bilingual)
  const common = useTexts(commonTexts)
  const title = texts.views[view]
  const about = {
    nobody: texts.nobodyAbout,
    unserved: texts.unservedAbout,
    routes: texts.routesAbout,
  }[view]
  const operations = (view === 'nobody' ? answer.refused : answer.unserved).filter(
    ({ method, path }) => hasWords(`${method} ${path}`, words),
  )
  const routes = answer.routesWithoutRule.filter((route) => hasWords(route, words))
  const count = view === 'routes' ? routes.length : operations.length
  return (
    <section>
      <div class="section-head">
        <h2>
          {title} <span class="count">{count}</span>
        </h2>
        <p class="detail">{about}</p>
      </div>
      {count === 0 && <p class="detail">{texts.none}</p>}
      {count > 0 && view === 'routes' && (
        <Table
          caption={title}
          rows={routes}
          keyOf={(route) => route}
          columns={[
            {
              id: 'route',
              title: texts.route,
              cell: (route) => <Name text={route} isCode />,
              sort: (route) => route,
            },
          ]}
        />
      )}
      {count > 0 && view !== 'routes' && (
        <Table
          caption={title}
          rows={operations}
          keyOf={(_, at) => at}
          columns={callColumns<Call>(common, (call) => call, { isAsked: true })}
        />
      )}
    </section>
  )
}
