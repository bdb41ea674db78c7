import { useEffect, useState } from 'preact/hooks'
import { commonTexts, useTexts } from '../texts/texts.ts'

interface CopyButtonProps {
  readonly text: string
  /** Absent: “Copy”. */
  readonly label?: string
  readonly isSmall?: boolean
}

/** Copies a text and says so. */
export function CopyButton({ text, label, isSmall }: CopyButtonProps) {
  const texts = useTexts(commonTexts)
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), 2000)
    return () => clearTimeout(timer)
  }, [isCopied])
  const copy = () => {
    navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      () => setCopied(false),
    )
  }
  return (
    <>
      <button type="button" class={isSmall ? 'quiet small' : undefined} onClick={copy}>
        {isCopied ? texts.copied : (label ?? texts.copy)}
      </button>
      <span class="hidden" role="status">
        {isCopied ? texts.copied : ''}
      </span>
    </>
  )
}
