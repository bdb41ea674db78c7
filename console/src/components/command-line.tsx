import { CopyButton } from './copy-button.tsx'

/** A command that the reader runs elsewhere. */
export function CommandLine({ text }: { text: string }) {
  return (
    <p class="command-line">
      <code>{text}</code> <CopyButton text={text} isSmall />
    </p>
  )
}
