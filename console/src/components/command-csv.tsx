import { csvAddress, type Parameters } from '../api.ts'
import { commonTexts, useTexts } from '../texts/texts.ts'

interface CommandCsvProps {
  readonly operation: string
  readonly parameters: Parameters
}

/** Downloads what a command prints as CSV. Where it prints none, CsvLink makes the file of what the page shows. */
export function CommandCsv({ operation, parameters }: CommandCsvProps) {
  const texts = useTexts(commonTexts)
  return (
    <a class="button" href={csvAddress(operation, parameters)} download>
      {texts.csv}
    </a>
  )
}
