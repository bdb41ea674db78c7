import { useEffect, useId, useState } from 'preact/hooks'
import type { Query } from '../../address.ts'
import { Field } from '../../components/field.tsx'
import { matrixView, matrixViews } from '../../lib/matrix-filters.ts'
import { open } from '../../router.ts'
import { useTexts } from '../../texts/texts.ts'
import { texts as bilingual } from './texts.ts'

/** Filters in the address, so that a link shows the same. Typing leaves no trace in the history. */
export function Filters({ query }: { query: Query }) {
  const texts = useTexts(bilingual)
  const id = useId()
  const [words, setWords] = useState(query['operations'] ?? '')
  const [names, setNames] = useState(query['roles'] ?? '')
  useEffect(() => {
    setWords(query['operations'] ?? '')
    setNames(query['roles'] ?? '')
  }, [query])
  const change = (more: Query) => open('matrix', { ...query, ...more }, { replace: true })
  return (
    <form class="form" onSubmit={(event) => event.preventDefault()}>
      <div class="field">
        <label for={id}>{texts.view}</label>
        <select
          id={id}
          value={matrixView(query['view'])}
          onChange={({ currentTarget: { value } }) =>
            change({ view: value === 'all' ? '' : value })
          }
        >
          {matrixViews.map((view) => (
            <option key={view} value={view}>
              {texts.views[view]}
            </option>
          ))}
        </select>
      </div>
      <Field
        label={texts.operations}
        name="operations"
        value={words}
        onValue={(value) => {
          setWords(value)
          change({ operations: value })
        }}
      />
      <Field
        label={texts.roles}
        name="roles"
        value={names}
        onValue={(value) => {
          setNames(value)
          change({ roles: value })
        }}
      />
    </form>
  )
}
