import type { Rule } from '#client'
import { addressOf } from '../../address.ts'
import type { commonTexts } from '../../texts/texts.ts'
import { Name } from '../name.tsx'
import type { Column } from '../table.tsx'

export type Call = Pick<Rule, 'method' | 'path'>

type Texts = Pick<(typeof commonTexts)['en'], 'method' | 'path'>

/** Method and path of a row. `isAsked` links the path to the page that says who can call it. */
export function callColumns<Row>(
  texts: Texts,
  callOf: (row: Row) => Call,
  { isAsked = false } = {},
): readonly [Column<Row>, Column<Row>] {
  return [
    {
      id: 'method',
      title: texts.method,
      cell: (row) => <code>{callOf(row).method}</code>,
      sort: (row) => callOf(row).method,
    },
    {
      id: 'path',
      title: texts.path,
      cell: (row) => {
        const { method, path } = callOf(row)
        const name = <Name text={path} isCode />
        if (!isAsked) return name
        return (
          <a href={addressOf('who', { method: method === '*' ? 'GET' : method, path })}>{name}</a>
        )
      },
      sort: (row) => callOf(row).path,
    },
  ]
}
