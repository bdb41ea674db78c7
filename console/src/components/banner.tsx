import type { ComponentChildren } from 'preact'

interface BannerProps {
  readonly kind: 'info' | 'warning' | 'error'
  readonly children: ComponentChildren
  /** Whether screen readers announce it when it appears. */
  readonly isAnnounced?: boolean
}

/** A message across the page. */
export function Banner({ kind, children, isAnnounced }: BannerProps) {
  const role = isAnnounced ? (kind === 'error' ? 'alert' : 'status') : undefined
  return (
    <div class={`banner ${kind}`} role={role}>
      {children}
    </div>
  )
}
