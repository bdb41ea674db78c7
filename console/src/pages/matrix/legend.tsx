import { useTexts } from '../../texts/texts.ts'
import { type CellWord, marks } from './marks.ts'
import { texts as bilingual } from './texts.ts'

export function Legend() {
  const texts = useTexts(bilingual)
  const words = (Object.keys(marks) as CellWord[]).filter((word) => word !== 'no')
  return (
    <section class="matrix-legend">
      <h2 class="hidden">{texts.legend}</h2>
      <ul>
        {words.map((word) => (
          <li key={word}>
            <span class={`matrix-mark ${marks[word][1]}`} aria-hidden="true">
              {marks[word][0]}
            </span>
            {texts.cells[word]}
          </li>
        ))}
      </ul>
      <p class="detail">{texts.help}</p>
    </section>
  )
}
