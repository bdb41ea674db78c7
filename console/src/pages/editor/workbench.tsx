import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Banner } from '../../components/banner.tsx'
import { type DraftFile, inOrder, isChanged, limitOf } from '../../lib/draft.ts'
import { type Draft, storeDraft } from '../../state/draft.ts'
import { useTexts } from '../../texts/texts.ts'
import { BaseForm } from './base-form.tsx'
import type { Target } from './code.tsx'
import { Comparison } from './comparison.tsx'
import { FileList } from './file-list.tsx'
import { FileText } from './file-text.tsx'
import { Findings } from './findings.tsx'
import { marksOf, type Noted, placeNow } from './marks.ts'
import { Propose } from './propose.tsx'
import { Replay } from './replay.tsx'
import { Tests } from './tests.tsx'
import { texts as bilingual } from './texts.ts'
import { useKept } from './use-kept.ts'
import { type Review, useReview } from './use-review.ts'

interface WorkbenchProps {
  readonly username: string
  readonly first: Draft
  readonly onBegin: (revision: string | undefined) => void
  readonly onProposed: (revision: string) => void
}

/** The files of a draft, and what the commands say about them. */
export function Workbench({ username, first, onBegin, onProposed }: WorkbenchProps) {
  const texts = useTexts(bilingual)
  const [draft, setDraft] = useState(first)
  const { files, base, over } = draft
  const [current, setCurrent] = useState(() => firstShown(files))
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set([current]))
  const [target, setTarget] = useState<Target>()
  const { review, isBusy, start } = useReview(over !== null)
  const hasChanged = useMemo(() => isChanged(files, base), [files, base])
  const isKept = useKept(username, draft, hasChanged)
  const limit = useMemo(() => limitOf(files), [files])
  const check = () => limit === undefined && start(files)

  // What the draft begins with says how it is covered by tests.
  useEffect(() => void check(), [])

  const select = (name: string) => {
    setOpened(new Set([...opened, name]))
    setCurrent(name)
  }
  const change = (next: readonly DraftFile[], shown = current) => {
    setDraft({ ...draft, files: inOrder(next) })
    select(next.some(({ name }) => name === shown) ? shown : firstShown(next))
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 's') return
    event.preventDefault()
    check()
  }
  const noted = useMemo(() => notedIn(review), [review])
  const go = (found: Noted) => {
    const line = placeNow(found, files, review?.files ?? [])
    if (line === undefined || found.file === undefined) return
    select(found.file)
    setTarget({ file: found.file, line, column: found.column ?? 1 })
  }
  const going = useRef(go)
  going.current = go
  // These elements do not change while a person types, so Preact skips them.
  const results = useMemo(() => {
    const onGo = (found: Noted) => going.current(found)
    return (
      <>
        <Findings review={review} noted={noted} onGo={onGo} />
        <Tests review={review} onGo={onGo} />
      </>
    )
  }, [review, noted])
  const comparison = useMemo(() => <Comparison review={review} />, [review])
  const isOutdated = review !== undefined && isChanged(files, review.files)
  const finish = (revision: string) => {
    storeDraft(username, undefined)
    onProposed(revision)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Ctrl+S works wherever the focus is.
    <div class="editor" onKeyDown={onKeyDown}>
      <div class="editor-bar">
        <BaseForm draft={draft} isChanged={hasChanged} onBegin={onBegin} />
        <div class="actions">
          <button type="button" disabled={limit !== undefined} onClick={check}>
            {isBusy ? texts.checking : texts.check}
          </button>
          <Propose
            draft={draft}
            isChanged={hasChanged}
            isRefused={limit !== undefined || (noted.some(isError) && !isOutdated)}
            onOver={(live) => setDraft({ ...draft, over: live })}
            onProposed={finish}
          />
        </div>
      </div>
      {limit !== undefined && <Banner kind="error">{texts.limits[limit]}</Banner>}
      {!isKept && <Banner kind="warning">{texts.notKept}</Banner>}
      <FileList
        files={files}
        base={base}
        current={current}
        noted={noted}
        onSelect={select}
        onFiles={change}
      />
      <div class="editor-columns">
        <div class="editor-main">
          {files
            .filter(({ name }) => opened.has(name))
            .map((file) => (
              <FileText
                key={file.name}
                name={file.name}
                text={file.text}
                marks={marksOf(file, noted, review?.files ?? [])}
                isShown={file.name === current}
                target={target?.file === file.name ? target : undefined}
                onText={(text) =>
                  setDraft({
                    ...draft,
                    files: files.map((each) =>
                      each.name === file.name ? { ...each, text } : each,
                    ),
                  })
                }
              />
            ))}
        </div>
        <div class="editor-side" aria-busy={isBusy}>
          {isOutdated && !isBusy && <p class="outdated">{texts.outdated}</p>}
          {results}
        </div>
      </div>
      {over !== null && comparison}
      <Replay files={files} isValid={review?.check?.errors.length === 0} />
    </div>
  )
}

/** The rules are what most people come for. */
function firstShown(files: readonly DraftFile[]): string {
  return (files.find(({ name }) => name.endsWith('.csv')) ?? files[0])?.name ?? ''
}

function isError({ kind }: Noted): boolean {
  return kind === 'error'
}

/** Errors, failed tests and warnings. */
function notedIn(review: Review | undefined): readonly Noted[] {
  const { check, tests } = review ?? {}
  const failures = tests !== undefined && 'failures' in tests ? tests.failures : []
  return [
    ...(check?.errors ?? []).map((each) => ({ ...each, kind: 'error' as const })),
    ...failures.map((each) => ({ ...each, kind: 'error' as const })),
    ...(check?.warnings ?? []).map((each) => ({ ...each, kind: 'warning' as const })),
  ]
}
