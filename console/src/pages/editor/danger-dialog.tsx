import { Dialog } from '../../components/dialog.tsx'
import { commonTexts, useTexts } from '../../texts/texts.ts'

interface DangerDialogProps {
  readonly title: string
  /** What is lost. */
  readonly effect: string
  readonly action: string
  readonly onAction: () => void
  readonly onClose: () => void
}

/** Asks before something is lost. */
export function DangerDialog({ title, effect, action, onAction, onClose }: DangerDialogProps) {
  const common = useTexts(commonTexts)
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="dialog-form">
        <p>{effect}</p>
        <div class="actions">
          <button type="button" class="primary danger" onClick={onAction}>
            {action}
          </button>
          <button type="button" onClick={onClose}>
            {common.cancel}
          </button>
        </div>
      </div>
    </Dialog>
  )
}
