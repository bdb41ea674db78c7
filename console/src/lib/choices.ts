/** Something that a combobox suggests. */
export interface Choice {
  readonly value: string
  /** Shown beside it, such as the kind of a path. */
  readonly detail?: string
}

const mostShown = 50

/** The choices that contain all words of a text. Those that start with it come first. */
export function matchingChoices(choices: readonly Choice[], text: string): readonly Choice[] {
  const wanted = text.trim().toLowerCase()
  const words = wanted.split(/\s+/).filter((word) => word !== '')
  const starting: Choice[] = []
  const containing: Choice[] = []
  for (const choice of choices) {
    const value = choice.value.toLowerCase()
    if (value.startsWith(wanted)) starting.push(choice)
    else if (words.every((word) => value.includes(word))) containing.push(choice)
    if (starting.length >= mostShown) break
  }
  return [...starting, ...containing].slice(0, mostShown)
}
