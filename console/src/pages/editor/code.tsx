import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { columnsOf, placeAt, rangeOf } from '../../lib/lines.ts'
import type { PartRange } from '../../lib/parts.ts'
import { windowOf } from '../../lib/window.ts'
import { useTexts } from '../../texts/texts.ts'
import type { Mark } from './marks.ts'
import { texts as bilingual } from './texts.ts'

/** A place to show. Each request is another object, so that the same place can be asked for twice. */
export interface Target {
  readonly file: string
  readonly line: number
  readonly column: number
}

interface CodeProps {
  readonly name: string
  /** The lines of the file that this text is; unset: all. Lines of marks and target count from its first. */
  readonly range: PartRange | undefined
  readonly text: string
  readonly marks: readonly Mark[]
  readonly isShown: boolean
  readonly target: Target | undefined
  readonly onText: (text: string) => void
}

/** Both as in style.css. */
const lineHeight = 20
const tabSize = 4

/** A text with line numbers, and with messages at their lines. Tab leaves it, as it leaves any field. */
export function Code({ name, range, text, marks, isShown, target, onText }: CodeProps) {
  const texts = useTexts(bilingual)
  const id = useId()
  const area = useRef<HTMLTextAreaElement>(null)
  const [view, setView] = useState({ top: 0, left: 0, height: 0 })
  const [caret, setCaret] = useState(0)
  const lines = useMemo(() => text.split('\n'), [text])
  const byLine = useMemo(() => Map.groupBy(marks, ({ line }) => line), [marks])
  const { line, column } = placeAt(text, Math.min(caret, text.length))
  const before = (range?.first ?? 1) - 1

  useLayoutEffect(() => {
    const element = area.current
    if (element === null || !isShown) return
    const measure = () => setView(viewOf(element))
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [isShown])

  useEffect(() => {
    if (target !== undefined && isShown) show(area.current, target)
  }, [target, isShown])

  const shown = windowOf(view.top, view.height, { size: lineHeight, count: lines.length })
  const numbers = Array.from({ length: shown.to - shown.from }, (_, at) => shown.from + at + 1)
  const at = (number: number) => ({ top: `${(number - 1) * lineHeight - view.top}px` })
  const messages = byLine.get(line) ?? []
  return (
    <div class="code-frame" hidden={!isShown}>
      <div class="code" data-digits={String(before + lines.length).length}>
        <div class="code-gutter" aria-hidden="true">
          {numbers.map((number) => (
            <span key={number} class={worst(byLine.get(number))} style={at(number)}>
              {before + number}
            </span>
          ))}
        </div>
        <div class="code-body">
          <div class="code-layer" aria-hidden="true">
            {numbers.map((number) => {
              const found = byLine.get(number)
              if (found === undefined) return null
              const columns = columnsOf(lines[number - 1] ?? '', tabSize) + 3
              const left = { marginLeft: `calc(${columns}ch - ${view.left}px)` }
              return (
                <div key={number} class={`code-band ${worst(found)}`} style={at(number)}>
                  <span style={left}>{found.map(({ message }) => message).join(' · ')}</span>
                </div>
              )
            })}
          </div>
          <textarea
            ref={area}
            aria-label={
              range === undefined ? texts.textOf(name) : texts.partOf(name, range.first, range.last)
            }
            aria-describedby={`${id}-hint`}
            aria-invalid={marks.some(({ kind }) => kind === 'error')}
            value={text}
            wrap="off"
            spellcheck={false}
            autocomplete="off"
            autocapitalize="none"
            onInput={(event) => {
              onText(event.currentTarget.value)
              setCaret(event.currentTarget.selectionStart)
            }}
            onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
            onScroll={(event) => setView(viewOf(event.currentTarget))}
          />
        </div>
      </div>
      <div class="code-status">
        <p id={`${id}-hint`}>{texts.editorHint}</p>
        <p>{texts.position(before + line, column)}</p>
        <p class="code-message" role="status">
          {messages.map(({ message }) => message).join(' · ')}
        </p>
      </div>
    </div>
  )
}

function viewOf({ scrollTop, scrollLeft, clientHeight }: HTMLTextAreaElement) {
  return { top: scrollTop, left: scrollLeft, height: clientHeight }
}

/** Puts the cursor there and brings the line into the middle. */
function show(element: HTMLTextAreaElement | null, { line, column }: Target): void {
  if (element === null) return
  const [start, end] = rangeOf(element.value, line)
  const from = Math.min(end, start + column - 1)
  element.focus()
  element.setSelectionRange(from, column > 1 ? from : end)
  element.scrollTop = (line - 1) * lineHeight - element.clientHeight / 2
}

function worst(marks: readonly Mark[] | undefined): string {
  if (marks === undefined) return ''
  return ['error', 'warning'].find((kind) => marks.some((mark) => mark.kind === kind)) ?? 'note'
}
