import type { InputHTMLAttributes, RefObject } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'

interface FieldProps {
  readonly label: string
  readonly name: string
  readonly value: string
  readonly onValue: (value: string) => void
  readonly type?: 'text' | 'password'
  readonly hint?: string
  readonly autocomplete?: InputHTMLAttributes['autocomplete']
  readonly isRequired?: boolean
  /** Takes the focus when it appears. */
  readonly isFirst?: boolean
  readonly inputRef?: RefObject<HTMLInputElement | null>
}

/** A text field with its label. */
export function Field(props: FieldProps) {
  const { label, name, value, onValue, type = 'text', hint, autocomplete, isRequired } = props
  const id = useId()
  const own = useRef<HTMLInputElement>(null)
  const input = props.inputRef ?? own
  const { isFirst } = props
  useEffect(() => {
    if (isFirst) input.current?.focus()
  }, [isFirst, input])
  const attributes = {
    ref: input,
    id,
    name,
    value,
    required: isRequired,
    autocomplete,
    autocapitalize: 'none',
    spellcheck: false,
    'aria-describedby': hint === undefined ? undefined : `${id}-hint`,
    onInput: (event: { readonly currentTarget: HTMLInputElement }) =>
      onValue(event.currentTarget.value),
  } as const
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {type === 'password' ? (
        <input type="password" {...attributes} />
      ) : (
        <input type="text" {...attributes} />
      )}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}
