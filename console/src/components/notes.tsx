import { commonTexts, useTexts } from '../texts/texts.ts'

/** What the reader of an answer must know, in the words of the command. */
export function Notes({ of }: { of: readonly string[] }) {
  const texts = useTexts(commonTexts)
  if (of.length === 0) return null
  return (
    <section class="notes">
      <h2>{texts.notes}</h2>
      <ul>
        {of.map((note) => (
          <li key={note}>{note}</li>
        ))}
      </ul>
    </section>
  )
}
