export type Choices = readonly (readonly [value: string, text: string])[]

interface ChoiceProps {
  /** Of the element, for its label. */
  readonly id: string
  readonly name: string
  readonly value: string
  readonly choices: Choices
  readonly onValue: (value: string) => void
}

/** One of a few. */
export function Choice({ id, name, value, choices, onValue }: ChoiceProps) {
  return (
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
  )
}
