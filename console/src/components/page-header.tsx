import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { hasNavigated } from '../router.ts'
import { commonTexts, useTexts } from '../texts/texts.ts'

interface PageHeaderProps {
  readonly title: string
  /** What the page answers, in one sentence. */
  readonly about?: string
  /** Buttons and links for the page as a whole. */
  readonly children?: ComponentChildren
}

/** The heading of a page. After a navigation it gets the focus, so that screen readers read it. */
export function PageHeader({ title, about, children }: PageHeaderProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  const { product } = useTexts(commonTexts)
  useEffect(() => {
    if (hasNavigated()) heading.current?.focus()
  }, [])
  useEffect(() => {
    document.title = `${title} – ${product}`
  }, [title, product])
  return (
    <header class="page-header">
      <div>
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {about !== undefined && <p class="about">{about}</p>}
      </div>
      {children !== undefined && <div class="actions">{children}</div>}
    </header>
  )
}
