import { useId, useMemo, useState } from 'preact/hooks'
import { type Choice, matchingChoices } from '../lib/choices.ts'
import { commonTexts, useTexts } from '../texts/texts.ts'

interface ComboboxProps {
  readonly label: string
  readonly name: string
  readonly value: string
  readonly onValue: (value: string) => void
  readonly choices: readonly Choice[]
  readonly isMono?: boolean
  readonly isRequired?: boolean
  readonly placeholder?: string
  readonly size?: 'wide' | 'narrow'
}

/** A text field with suggestions. Enter takes the highlighted one; the next Enter submits the form. */
export function Combobox(props: ComboboxProps) {
  const { label, name, value, onValue, choices, isMono, isRequired, placeholder, size = '' } = props
  const texts = useTexts(commonTexts)
  const id = useId()
  const [isOpen, setOpen] = useState(false)
  const [active, setActive] = useState(-1)
  const found = useMemo(
    () => (isOpen ? matchingChoices(choices, value) : []),
    [choices, value, isOpen],
  )
  const isShown = isOpen && found.length > 0

  const close = () => {
    setOpen(false)
    setActive(-1)
  }
  const take = (choice: Choice) => {
    onValue(choice.value)
    close()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const chosen = found[active]
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      if (!isOpen) setOpen(true)
      // One place more than choices: before the first one, the text as it was typed.
      const places = found.length + 1
      const step = event.key === 'ArrowDown' ? 1 : -1
      setActive(((active + 1 + step + places) % places) - 1)
    } else if (event.key === 'Enter' && isShown && chosen !== undefined) {
      event.preventDefault()
      take(chosen)
    } else if (event.key === 'Enter') close()
    else if (event.key === 'Escape' && isShown) {
      event.preventDefault()
      event.stopPropagation()
      close()
    }
  }

  return (
    <div class={`field combobox ${size}`}>
      <label for={id}>{label}</label>
      <input
        id={id}
        name={name}
        class={isMono ? 'mono' : undefined}
        value={value}
        required={isRequired}
        placeholder={placeholder}
        role="combobox"
        aria-expanded={isShown}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={isShown && active >= 0 ? `${id}-${active}` : undefined}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        onInput={(event) => {
          onValue(event.currentTarget.value)
          setOpen(true)
          setActive(-1)
        }}
        onClick={() => setOpen(true)}
        onBlur={close}
        onKeyDown={onKeyDown}
      />
      <div id={`${id}-list`} role="listbox" aria-label={label} class="choices" hidden={!isShown}>
        {isShown &&
          found.map((choice, at) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the text field.
            // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the text field.
            <div
              key={choice.value}
              id={`${id}-${at}`}
              role="option"
              aria-selected={at === active}
              class="choice"
              ref={at === active ? scrollIntoView : null}
              // Else the field loses the focus and closes the list before the click arrives.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => take(choice)}
            >
              <span class={isMono ? 'mono' : undefined}>{choice.value}</span>
              {choice.detail !== undefined && <span class="detail">{choice.detail}</span>}
            </div>
          ))}
      </div>
      <span class="hidden" role="status">
        {isShown ? texts.suggestions(found.length) : ''}
      </span>
    </div>
  )
}

function scrollIntoView(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: 'nearest' })
}
