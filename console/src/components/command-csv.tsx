import { csvAddress, type ParametersOf, type Question } from '../api.ts'
import { commonTexts, useTexts } from '../texts/texts.ts'

interface CommandCsvProps<Path extends Question> {
  readonly operation: Path
  readonly parameters: ParametersOf<Path>
}

/** Downloads what a command prints as CSV. Where it prints none, CsvLink makes the file of what the page shows. */
export function CommandCsv<Path extends Question>({
  operation,
  parameters,
}: CommandCsvProps<Path>) {
  const texts = useTexts(commonTexts)
  return (
    <a class="button" href={csvAddress(operation, parameters)} download>
      {texts.csv}
    </a>
  )
}
