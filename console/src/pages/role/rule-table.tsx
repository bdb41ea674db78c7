import { useMemo } from 'preact/hooks'
import type { EffectiveRule } from '#client'
import { addressOf } from '../../address.ts'
import { CodeLine } from '../../components/access/code-line.tsx'
import { throughColumn } from '../../components/access/through-column.ts'
import { Name } from '../../components/name.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { placeOf } from '../../lib/rule-line.ts'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { texts as bilingual } from './texts.ts'

/** The places of grants that no request used, and whether they are too new to tell. */
export type UnusedLines = ReadonlyMap<string, boolean>

interface RuleTableProps {
  readonly caption: string
  readonly rules: readonly EffectiveRule[]
  readonly roleKey: string
  readonly host: string | undefined
  readonly unused: UnusedLines
}

const colors = { allows: 'yes', partly: 'part', outweighed: 'no', denies: 'no', idle: '' } as const

export function RuleTable({ caption, rules, roleKey, host, unused }: RuleTableProps) {
  const texts = useTexts(bilingual)
  const common = useTexts(commonTexts)
  const columns = useMemo((): readonly Column<EffectiveRule>[] => {
    const question = ({ rule, example = rule }: EffectiveRule) =>
      addressOf('can', { role: roleKey, method: example.method, path: example.path, host })
    return [
      {
        id: 'method',
        title: common.method,
        cell: ({ rule }) => <code>{rule.method}</code>,
        sort: ({ rule }) => rule.method,
      },
      {
        id: 'path',
        title: common.path,
        cell: (each) => (
          <a href={question(each)}>
            <Name text={each.rule.path} isCode />
          </a>
        ),
        sort: ({ rule }) => rule.path,
      },
      {
        id: 'effect',
        title: texts.effect,
        cell: ({ effect, rule }) => (
          <>
            <span class={`tag ${colors[effect]}`}>{texts.effects[effect]}</span>{' '}
            <Unused isNew={unused.get(placeOf(rule.origin))} />
          </>
        ),
        sort: ({ effect }) => texts.effects[effect],
      },
      throughColumn(common.through),
      {
        id: 'line',
        title: common.line,
        cell: ({ rule, until }) => <CodeLine of={rule} until={until} />,
        sort: ({ rule }) => placeOf(rule.origin),
      },
    ]
  }, [texts, common, roleKey, host, unused])
  return <Table caption={caption} rows={rules} keyOf={(_, at) => at} columns={columns} />
}

function Unused({ isNew }: { isNew: boolean | undefined }) {
  const texts = useTexts(bilingual)
  if (isNew === undefined) return null
  return <span class="tag part">{isNew ? texts.unusedNew : texts.unused}</span>
}
