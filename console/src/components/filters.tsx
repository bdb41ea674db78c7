import { useEffect, useId, useState } from 'preact/hooks'
import type { Query } from '../address.ts'
import { open } from '../router.ts'
import { commonTexts, useTexts } from '../texts/texts.ts'
import { Choice, type Choices } from './choice.tsx'

/** One thing that narrows a list: a text, or a choice if it has choices. */
export interface Filter {
  /** In the address, and the parameter of the command. */
  readonly name: string
  readonly label: string
  /** The first one means: not narrowed. */
  readonly choices?: Choices
  readonly placeholder?: string
}

interface FiltersProps {
  readonly page: string
  readonly query: Query
  readonly filters: readonly Filter[]
}

/** Narrows a list. What the reader chose is part of the address. */
export function Filters({ page, query, filters }: FiltersProps) {
  const texts = useTexts(commonTexts)
  const [given, setGiven] = useState<Query>(query)
  useEffect(() => setGiven(query), [query])
  const isNarrowed = filters.some(({ name }) => (query[name] ?? '') !== '')
  const apply = (next: Query) => {
    const trimmed = Object.entries(next).map(([name, value]) => [name, value.trim()] as const)
    open(page, Object.fromEntries(trimmed))
  }
  const submit = (event: Event) => {
    event.preventDefault()
    apply(given)
  }
  return (
    <form class="form" onSubmit={submit}>
      {filters.map((filter) => (
        <FilterField
          key={filter.name}
          filter={filter}
          value={given[filter.name] ?? ''}
          onValue={(value) => {
            const next = { ...given, [filter.name]: value }
            setGiven(next)
            // A choice is complete; a text is not until it is submitted.
            if (filter.choices !== undefined) apply(next)
          }}
        />
      ))}
      <button type="submit" class="primary">
        {texts.apply}
      </button>
      {isNarrowed && (
        <button type="button" onClick={() => open(page)}>
          {texts.reset}
        </button>
      )}
    </form>
  )
}

interface FilterFieldProps {
  readonly filter: Filter
  readonly value: string
  readonly onValue: (value: string) => void
}

function FilterField({ filter, value, onValue }: FilterFieldProps) {
  const { name, label, choices, placeholder } = filter
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {choices === undefined ? (
        <input
          id={id}
          name={name}
          type="text"
          value={value}
          placeholder={placeholder}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      ) : (
        <Choice id={id} name={name} value={value} choices={choices} onValue={onValue} />
      )}
    </div>
  )
}
