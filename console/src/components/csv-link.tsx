import { toCsv } from '../lib/csv.ts'
import { commonTexts, useTexts } from '../texts/texts.ts'

interface CsvLinkProps {
  /** Without `.csv`. */
  readonly name: string
  readonly rows: () => readonly (readonly (string | number)[])[]
}

/** Downloads a table. The file is made in the browser, of what the page shows. */
export function CsvLink({ name, rows }: CsvLinkProps) {
  const texts = useTexts(commonTexts)
  const download = () => {
    // Spreadsheets read a file without the mark as Latin-1.
    const file = new Blob(['\ufeff', toCsv(rows())], { type: 'text/csv;charset=utf-8' })
    const link = document.createElement('a')
    link.href = URL.createObjectURL(file)
    link.download = `${name.replaceAll(/[^\w.-]+/g, '-')}.csv`
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
  }
  return (
    <button type="button" onClick={download}>
      {texts.csv}
    </button>
  )
}
