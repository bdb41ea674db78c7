import { useId } from 'preact/hooks'

interface ChoiceFieldProps {
  readonly label: string
  readonly name: string
  readonly value: string
  readonly choices: readonly (readonly [value: string, text: string])[]
  readonly onValue: (value: string) => void
}

/** A choice that takes effect at once. */
export function ChoiceField({ label, name, value, choices, onValue }: ChoiceFieldProps) {
  const id = useId()
  return (
    <div class="field choice-field">
      <label for={id}>{label}</label>
      <select
        id={id}
        name={name}
        value={value}
        onChange={(event) => onValue(event.currentTarget.value)}
      >
        {choices.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </div>
  )
}
