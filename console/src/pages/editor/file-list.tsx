import { useState } from 'preact/hooks'
import { Banner } from '../../components/banner.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Field } from '../../components/field.tsx'
import { type DraftFile, mostFiles, nameProblem, stateOf } from '../../lib/draft.ts'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { DangerDialog } from './danger-dialog.tsx'
import type { Noted } from './marks.ts'
import { texts as bilingual } from './texts.ts'

interface FileListProps {
  readonly files: readonly DraftFile[]
  readonly base: readonly DraftFile[]
  readonly current: string
  readonly noted: readonly Noted[]
  readonly onSelect: (name: string) => void
  /** Gets the new files and the one to show. */
  readonly onFiles: (files: readonly DraftFile[], shown?: string) => void
}

/** The files of the draft: to choose one, and to add, rename and delete them. */
export function FileList({ files, base, current, noted, onSelect, onFiles }: FileListProps) {
  const texts = useTexts(bilingual)
  const [dialog, setDialog] = useState<'add' | 'rename' | 'delete'>()
  const close = () => setDialog(undefined)
  const others = files.filter(({ name }) => name !== current)
  const add = (name: string) => onFiles([...files, { name, text: '' }], name)
  const rename = (name: string) => {
    const text = files.find((file) => file.name === current)?.text ?? ''
    onFiles([...others, { name, text }], name)
  }
  const removed = base.filter(({ name }) => !files.some((file) => file.name === name))
  return (
    <div class="editor-files">
      <nav aria-label={texts.files}>
        <ul>
          {files.map((file) => (
            <li key={file.name}>
              <button
                type="button"
                aria-current={file.name === current}
                onClick={() => onSelect(file.name)}
              >
                <span class="mono">{file.name}</span>
                <State state={stateOf(file, base)} />
                <Counts noted={noted.filter((each) => each.file === file.name)} />
              </button>
            </li>
          ))}
        </ul>
      </nav>
      <div class="actions">
        <button
          type="button"
          class="small"
          disabled={files.length >= mostFiles}
          onClick={() => setDialog('add')}
        >
          {texts.addFile}
        </button>
        <button type="button" class="small" onClick={() => setDialog('rename')}>
          {texts.renameFile}
        </button>
        <button
          type="button"
          class="small"
          disabled={files.length < 2}
          onClick={() => setDialog('delete')}
        >
          {texts.deleteFile}
        </button>
      </div>
      {removed.length > 0 && (
        <p class="hint">
          {texts.removed} <span class="mono">{removed.map(({ name }) => name).join(', ')}</span>
        </p>
      )}
      {dialog === 'add' && (
        <NameDialog title={texts.addFile} first="" others={files} onName={add} onClose={close} />
      )}
      {dialog === 'rename' && (
        <NameDialog
          title={texts.renameFile}
          first={current}
          others={others}
          onName={rename}
          onClose={close}
        />
      )}
      {dialog === 'delete' && (
        <DangerDialog
          title={texts.deleteTitle(current)}
          effect={texts.deleteEffect}
          action={texts.deleteFile}
          onAction={() => {
            onFiles(others)
            close()
          }}
          onClose={close}
        />
      )}
    </div>
  )
}

function State({ state }: { state: ReturnType<typeof stateOf> }) {
  const texts = useTexts(bilingual)
  if (state === 'same') return null
  return <span class={`tag ${state === 'added' ? 'yes' : 'part'}`}>{texts.states[state]}</span>
}

function Counts({ noted }: { noted: readonly Noted[] }) {
  const texts = useTexts(bilingual)
  const errors = noted.filter(({ kind }) => kind === 'error').length
  const warnings = noted.filter(({ kind }) => kind === 'warning').length
  return (
    <>
      {errors > 0 && <span class="tag no">{texts.errors(errors)}</span>}
      {warnings > 0 && <span class="tag part">{texts.warnings(warnings)}</span>}
    </>
  )
}

interface NameDialogProps {
  readonly title: string
  readonly first: string
  readonly others: readonly DraftFile[]
  readonly onName: (name: string) => void
  readonly onClose: () => void
}

function NameDialog({ title, first, others, onName, onClose }: NameDialogProps) {
  const texts = useTexts(bilingual)
  const common = useTexts(commonTexts)
  const [name, setName] = useState(first)
  const [problem, setProblem] = useState<'form' | 'taken'>()
  const submit = (event: Event) => {
    event.preventDefault()
    const found = nameProblem(name.trim(), others)
    setProblem(found)
    if (found !== undefined) return
    onName(name.trim())
    onClose()
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="dialog-form" onSubmit={submit}>
        <Field
          label={texts.fileName}
          hint={texts.fileNameHint}
          name="file"
          value={name}
          onValue={setName}
          autocomplete="off"
          isRequired
          isFirst
        />
        {problem !== undefined && (
          <Banner kind="error" isAnnounced>
            {texts.nameProblems[problem]}
          </Banner>
        )}
        <div class="actions">
          <button type="submit" class="primary">
            {title}
          </button>
          <button type="button" onClick={onClose}>
            {common.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
