import { useId } from 'preact/hooks'
import { Choice, type Choices } from '../choice.tsx'

interface ChoiceFieldProps {
  readonly label: string
  readonly name: string
  readonly value: string
  readonly choices: Choices
  readonly onValue: (value: string) => void
}

/** A choice that takes effect at once. */
export function ChoiceField({ label, name, value, choices, onValue }: ChoiceFieldProps) {
  const id = useId()
  return (
    <div class="field choice-field">
      <label for={id}>{label}</label>
      <Choice id={id} name={name} value={value} choices={choices} onValue={onValue} />
    </div>
  )
}
