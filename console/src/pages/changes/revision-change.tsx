import { useState } from 'preact/hooks'
import { Change, useMayChange } from '../../components/change.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Field } from '../../components/field.tsx'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { texts as bilingual } from './texts.ts'

interface RevisionChangeProps {
  readonly label: string
  readonly title: string
  readonly effect: string
  readonly operation: 'policy/rollback' | 'policy/promote'
  readonly revision: string
  /** How many signatures a policy needs. */
  readonly signatures: number
  readonly isDanger?: boolean
  readonly isSmall?: boolean
  readonly onDone: () => void
}

/** Makes another revision live. The history keeps the reason. */
export function RevisionChange(props: RevisionChangeProps) {
  const { effect, revision, signatures, ...change } = props
  const texts = useTexts(bilingual)
  const [message, setMessage] = useState('')
  const isPromotion = change.operation === 'policy/promote'
  if (signatures === 1 || (signatures > 1 && !isPromotion)) return <SignedElsewhere {...props} />
  // What several people signed has its author and reason already.
  const hasReason = signatures === 0
  const body = hasReason ? { revision, message: message.trim() } : { revision }
  return (
    <Change {...change} needs="publisher" body={body} typed={revision}>
      <p>{effect}</p>
      {hasReason && (
        <Field
          label={texts.why}
          name="message"
          value={message}
          onValue={setMessage}
          autocomplete="off"
          isRequired
          isFirst
        />
      )}
    </Change>
  )
}

/** The console has no private keys, so it says which command signs the change. */
function SignedElsewhere(props: RevisionChangeProps) {
  const { label, title, operation, revision, signatures, isDanger, isSmall } = props
  const texts = useTexts(bilingual)
  const { close } = useTexts(commonTexts)
  const [isOpen, setOpen] = useState(false)
  const mayChange = useMayChange('publisher')
  if (!mayChange) return null
  const verb = signatures > 1 ? 'propose' : operation === 'policy/promote' ? 'promote' : 'rollback'
  return (
    <>
      <button
        type="button"
        class={`${isSmall ? 'small' : ''} ${isDanger ? 'danger' : ''}`}
        onClick={() => setOpen(true)}
      >
        {label}
      </button>
      {isOpen && (
        <Dialog title={title} onClose={() => setOpen(false)}>
          <div class="dialog-form">
            <p>{signatures > 1 ? texts.needsKeys(signatures) : texts.needsKey}</p>
            <CommandLine text={`postern policy ${verb} ${revision} -m WHY --key FILE`} />
            <div class="actions">
              <button type="button" onClick={() => setOpen(false)}>
                {close}
              </button>
            </div>
          </div>
        </Dialog>
      )}
    </>
  )
}
