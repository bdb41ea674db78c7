import type { ComponentChildren } from 'preact'
import { commonTexts, useTexts } from '../../texts/texts.ts'

export type Outcome = 'allowed' | 'denied' | 'refused'

/** The answer to a question about access, in one line. Sign and word say the same as its color. */
export function Verdict({ outcome, children }: { outcome: Outcome; children?: ComponentChildren }) {
  return (
    <p class={`verdict ${outcome}`} role="status">
      <Mark outcome={outcome} />
      <span>{children}</span>
    </p>
  )
}

/** The word of a verdict with its sign. */
export function Mark({ outcome }: { outcome: Outcome }) {
  const texts = useTexts(commonTexts)
  return (
    <strong class={`mark ${outcome}`}>
      <span aria-hidden="true">{signs[outcome]}</span> {texts[outcome]}
    </strong>
  )
}

const signs: Readonly<Record<Outcome, string>> = { allowed: '✓', denied: '✕', refused: '⊘' }
