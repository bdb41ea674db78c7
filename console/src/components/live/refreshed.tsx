import type { ComponentChildren } from 'preact'
import type { Answer } from '../../use-answer.ts'
import { ErrorState, Loading } from '../states.tsx'

interface RefreshedProps<T> {
  readonly answer: Answer<T>
  readonly children: (value: T) => ComponentChildren
}

/** Shows an answer that stays while it is asked for again, also when that fails. */
export function Refreshed<T>({ answer, children }: RefreshedProps<T>) {
  const { value, problem, isLoading, reload } = answer
  if (value !== undefined) return <>{children(value)}</>
  if (problem !== undefined) return <ErrorState problem={problem} onRetry={reload} />
  return isLoading ? <Loading /> : null
}
