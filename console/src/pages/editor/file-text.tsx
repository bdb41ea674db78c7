import { useLayoutEffect, useMemo, useState } from 'preact/hooks'
import { ChoiceField } from '../../components/live/choice-field.tsx'
import { type PartRange, rangesOf, splitParts } from '../../lib/parts.ts'
import { useTexts } from '../../texts/texts.ts'
import { Code, type Target } from './code.tsx'
import type { Mark } from './marks.ts'
import { texts as bilingual } from './texts.ts'

interface FileTextProps {
  readonly name: string
  readonly text: string
  readonly marks: readonly Mark[]
  /** Other files stay, so that each keeps its undo history. */
  readonly isShown: boolean
  readonly target: Target | undefined
  readonly onText: (text: string) => void
}

interface View {
  readonly parts: readonly string[]
  readonly current: number
  /** Parts that were shown stay, so that each keeps its undo history. */
  readonly opened: ReadonlySet<number>
  /** The reader wants a long file as one text. */
  readonly isWhole: boolean
  /** Another division is another set of text fields. */
  readonly turn: number
}

/**
 * The text of a file. A long one is shown in parts, because browsers lay out all lines of a text field at
 * once; who wants to search or copy all of it chooses all lines.
 */
export function FileText({ name, text, marks, isShown, target, onText }: FileTextProps) {
  const [view, setView] = useState(() => inParts(text, 0, 0))
  const { parts, current, opened, isWhole, turn } = view
  const ranges = rangesOf(parts)
  const choose = (choice: number | 'all') => {
    if (choice === 'all') setView({ ...whole(text), turn: turn + 1 })
    else if (isWhole) setView(inParts(text, choice, turn + 1))
    else setView({ ...view, current: choice, opened: new Set([...opened, choice]) })
  }
  // Where the target is when it is asked for: edits must not move the cursor there again.
  const placed = useMemo(() => target && placeIn(ranges, target), [target])
  useLayoutEffect(() => {
    if (placed !== undefined && placed.part !== current) choose(placed.part)
  }, [placed])

  return (
    <div hidden={!isShown}>
      {(isWhole || parts.length > 1) && (
        <PartChoice
          ranges={isWhole ? rangesOf(splitParts(text)) : ranges}
          value={isWhole ? 'all' : current}
          onChoice={choose}
        />
      )}
      {parts.map((part, at) => {
        const range = ranges[at]
        if (!opened.has(at) || range === undefined) return null
        return (
          <Code
            key={`${turn} ${at}`}
            name={name}
            range={parts.length > 1 ? range : undefined}
            text={part}
            marks={marksIn(marks, range)}
            isShown={isShown && at === current}
            target={placed?.part === at ? placed.target : undefined}
            onText={(changed) => {
              const next = parts.with(at, changed)
              setView({ ...view, parts: next })
              onText(next.join('\n'))
            }}
          />
        )
      })}
    </div>
  )
}

interface PartChoiceProps {
  readonly ranges: readonly PartRange[]
  readonly value: number | 'all'
  readonly onChoice: (choice: number | 'all') => void
}

function PartChoice({ ranges, value, onChoice }: PartChoiceProps) {
  const texts = useTexts(bilingual)
  const choices = [
    ...ranges.map(({ first, last }, at) => [String(at), texts.range(first, last)] as const),
    ['all', texts.allLines(ranges.at(-1)?.last ?? 0)] as const,
  ]
  return (
    <div class="code-parts">
      <ChoiceField
        label={texts.lines}
        name="lines"
        value={String(value)}
        choices={choices}
        onValue={(chosen) => onChoice(chosen === 'all' ? 'all' : Number(chosen))}
      />
      <p class="hint">{texts.partsHint}</p>
    </div>
  )
}

function inParts(text: string, wanted: number, turn: number): View {
  const parts = splitParts(text)
  const current = Math.min(wanted, parts.length - 1)
  return { parts, current, opened: new Set([current]), isWhole: false, turn }
}

function whole(text: string): Omit<View, 'turn'> {
  return { parts: [text], current: 0, opened: new Set([0]), isWhole: true }
}

function placeIn(ranges: readonly PartRange[], target: Target) {
  const found = ranges.findIndex(({ last }) => target.line <= last)
  const part = found === -1 ? ranges.length - 1 : found
  const { first } = ranges[part] ?? { first: 1 }
  return { part, target: { ...target, line: target.line - first + 1 } }
}

/** With lines as the part counts them. */
function marksIn(marks: readonly Mark[], { first, last }: PartRange): readonly Mark[] {
  if (first === 1 && marks.every(({ line }) => line <= last)) return marks
  return marks.flatMap((mark) =>
    mark.line < first || mark.line > last ? [] : [{ ...mark, line: mark.line - first + 1 }],
  )
}
