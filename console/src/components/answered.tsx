import type { ComponentChildren } from 'preact'
import type { Answer } from '../use-answer.ts'
import { ErrorState, Loading } from './states.tsx'

interface AnsweredProps<T> {
  readonly answer: Answer<T>
  readonly children: (value: T) => ComponentChildren
}

/** Shows an answer, or that it loads, or why it failed. */
export function Answered<T>({ answer, children }: AnsweredProps<T>) {
  const { value, problem, isLoading, reload } = answer
  if (problem !== undefined) return <ErrorState problem={problem} onRetry={reload} />
  if (value !== undefined) return <div aria-busy={isLoading}>{children(value)}</div>
  return isLoading ? <Loading /> : null
}
