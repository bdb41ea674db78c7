import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Posts } from '#client'
import { change } from '../access.ts'
import { asProblem, textOf } from '../api.ts'
import { type ConsoleRole, isAtLeast } from '../lib/console-roles.ts'
import { session } from '../state/session.ts'
import { useStore } from '../state/store.ts'
import { commonTexts, useTexts } from '../texts/texts.ts'
import { Banner } from './banner.tsx'
import { Dialog } from './dialog.tsx'
import { Field } from './field.tsx'

interface ChangeProps<Path extends keyof Posts> {
  /** Of the button, and of the one that confirms. */
  readonly label: string
  readonly title: string
  /** The console role that may do it. Others do not see the button. */
  readonly needs: ConsoleRole
  readonly operation: Path
  readonly body: Omit<Posts[Path]['input'], 'confirm'>
  /** What the reader must type; the change says it a second time, as `confirm`. */
  readonly typed?: string
  readonly isDanger?: boolean
  /** In a row of a table. */
  readonly isSmall?: boolean
  readonly onDone: (document: Posts[Path]['document']) => void
  /** What will happen, and fields of the change. */
  readonly children: ComponentChildren
}

/** A button that changes something, after a question. Shown only to readers who may change it. */
export function Change<Path extends keyof Posts>(props: ChangeProps<Path>) {
  const [isOpen, setOpen] = useState(false)
  const mayChange = useMayChange(props.needs)
  if (!mayChange) return null
  return (
    <>
      <button
        type="button"
        class={`${props.isSmall ? 'small' : ''} ${props.isDanger ? 'danger' : ''}`}
        onClick={() => setOpen(true)}
      >
        {props.label}
      </button>
      {isOpen && <ChangeDialog {...props} onClose={() => setOpen(false)} />}
    </>
  )
}

/** Whether the reader may make changes that need this console role. */
export function useMayChange(needs: ConsoleRole): boolean {
  const reader = useStore(session)
  return reader?.write === true && isAtLeast(reader.role, needs)
}

function ChangeDialog<Path extends keyof Posts>(
  props: ChangeProps<Path> & { readonly onClose: () => void },
) {
  const { label, title, operation, body, typed, isDanger, onDone, onClose, children } = props
  const texts = useTexts(commonTexts)
  const [repeated, setRepeated] = useState('')
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)

  const onSubmit = async (event: Event) => {
    event.preventDefault()
    if (isBusy) return
    setBusy(true)
    setProblem(undefined)
    try {
      // Asks for the password if the last one is too old; undefined: the reader cancelled that.
      const confirmed = typed === undefined ? body : { ...body, confirm: repeated }
      const answer = await change(operation, confirmed as Posts[Path]['input'])
      if (answer === undefined) return
      onClose()
      onDone(answer.document)
    } catch (error) {
      const refused = asProblem(error)
      setProblem(refused.status === 0 ? texts.unreachable : textOf(refused))
    } finally {
      setBusy(false)
    }
  }

  return (
    <Dialog title={title} onClose={onClose}>
      <form class="dialog-form" onSubmit={(event) => void onSubmit(event)}>
        {children}
        {typed !== undefined && (
          <Field
            label={texts.typeToConfirm(typed)}
            name="typed"
            value={repeated}
            onValue={setRepeated}
            autocomplete="off"
            isRequired
          />
        )}
        {problem !== undefined && (
          <Banner kind="error" isAnnounced>
            {problem}
          </Banner>
        )}
        <div class="actions">
          <button
            type="submit"
            class={isDanger ? 'primary danger' : 'primary'}
            disabled={isBusy || (typed !== undefined && repeated !== typed)}
          >
            {label}
          </button>
          <button type="button" onClick={onClose}>
            {texts.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
