import type { ComponentChildren } from 'preact'
import type { Problem } from '#client'
import { commonTexts, useTexts } from '../texts/texts.ts'

/** Shown while the first answer loads. It appears after a moment, so that fast answers do not flicker. */
export function Loading() {
  const texts = useTexts(commonTexts)
  return (
    <p class="loading" role="status">
      {texts.loading}
    </p>
  )
}

interface EmptyStateProps {
  readonly title: string
  readonly children?: ComponentChildren
}

/** Says that the answer has nothing in it, and what to do. */
export function EmptyState({ title, children }: EmptyStateProps) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  )
}

interface ErrorStateProps {
  readonly problem: Problem
  readonly onRetry?: (() => void) | undefined
}

/** Why a question has no answer, in the words of the command. */
export function ErrorState({ problem, onRetry }: ErrorStateProps) {
  const texts = useTexts(commonTexts)
  const { status, messages } = problem
  const fallback = status === 0 ? texts.unreachable : texts.status(status)
  return (
    <div class="error-state" role="alert">
      <p class="error-title">{texts.errorTitle}</p>
      {(messages.length === 0 ? [fallback] : messages).map((message) => (
        <p key={message}>{message}</p>
      ))}
      {onRetry !== undefined && (
        <button type="button" onClick={onRetry}>
          {texts.retry}
        </button>
      )}
    </div>
  )
}
