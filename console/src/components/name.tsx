interface NameProps {
  readonly text: string
  readonly isCode?: boolean
}

/** Longer words would make a table wider than the screen. */
const longest = 44

/** A role, user, path or another name that people chose. Only long ones break in the middle of a word. */
export function Name({ text, isCode }: NameProps) {
  const isLong = text.split(' ').some((word) => word.length > longest)
  const className = isLong ? 'long' : undefined
  return isCode ? <code class={className}>{text}</code> : <span class={className}>{text}</span>
}
