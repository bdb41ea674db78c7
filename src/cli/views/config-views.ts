import { stringify } from 'yaml'
import { formatProblem } from '../../kernel/errors.ts'
import type { configCheck, configPrint } from '../../operations/config/descriptions.ts'
import type { DocumentOf } from '../../operations/operation.ts'
import { jsonLine, printable } from '../format.ts'
import type { ViewOf } from '../view.ts'

export const configCheckView: ViewOf<typeof configCheck> = {
  json: ({ document }) => ({ out: jsonLine(document), err: document.ok ? warned(document) : '' }),
  text({ document }) {
    const { file, ok, problems, summary } = document
    if (ok) return { out: `${file}: ok (${summary})\n`, err: warned(document) }
    return { out: '', err: problems.map((each) => lineOf(formatProblem(each))).join('') }
  },
}

function warned({ file, warnings }: DocumentOf<typeof configCheck>): string {
  return warnings.map((each) => lineOf(`${file}: warning: ${each}`)).join('')
}

export const configPrintView: ViewOf<typeof configPrint> = {
  text: ({ document }) => stringify(document),
}

const lineOf = (text: string) => `${printable(text)}\n`
