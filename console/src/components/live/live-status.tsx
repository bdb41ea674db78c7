import type { ComponentChildren } from 'preact'
import { textOf } from '../../api.ts'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import type { Live } from '../../use-live.ts'

interface LiveStatusProps {
  readonly live: Live
  readonly isPaused?: boolean
  /** Beside the state; screen readers do not announce it. */
  readonly children?: ComponentChildren
}

/** Whether what the page shows is up to date. Only changes of this are announced, not what arrives. */
export function LiveStatus({ live, isPaused, children }: LiveStatusProps) {
  const texts = useTexts(commonTexts).live
  const problem = live.problem === undefined ? '' : textOf(live.problem)
  const state = isPaused && live.state === 'live' ? 'paused' : live.state
  return (
    <div class="live-status">
      <p role="status" class={`live-state ${state}`}>
        <span class="live-dot" aria-hidden="true" />
        {texts[state]}
        {problem !== '' && `: ${problem}`}
      </p>
      {children}
    </div>
  )
}
