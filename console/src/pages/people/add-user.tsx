import { useState } from 'preact/hooks'
import type { UserAdd } from '#client'
import { Change } from '../../components/change.tsx'
import { Combobox } from '../../components/combobox.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Field } from '../../components/field.tsx'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { useNames } from '../../use-names.ts'
import { texts as bilingual } from './texts.ts'

const empty = { name: '', role: '' }

/** Adds an account, and shows the password that the command generated. */
export function AddUser({ onDone }: { onDone: () => void }) {
  const texts = useTexts(bilingual)
  const common = useTexts(commonTexts)
  const names = useNames()
  const [given, setGiven] = useState(empty)
  const [added, setAdded] = useState<UserAdd>()
  const done = (document: UserAdd) => {
    setGiven(empty)
    setAdded(document)
    onDone()
  }
  return (
    <>
      <Change
        needs="publisher"
        onDone={done}
        label={texts.add}
        title={texts.addTitle}
        operation="user/add"
        body={{ name: given.name.trim(), role: given.role.trim() }}
      >
        <Field
          label={texts.name}
          name="name"
          value={given.name}
          onValue={(name) => setGiven({ ...given, name })}
          autocomplete="off"
          isRequired
          isFirst
        />
        <Combobox
          label={common.role}
          name="role"
          value={given.role}
          onValue={(role) => setGiven({ ...given, role })}
          choices={names.roles}
          isRequired
        />
      </Change>
      {added !== undefined && (
        <Dialog title={texts.added(added.username)} onClose={() => setAdded(undefined)}>
          <div class="dialog-form">
            <p>
              <code>{added.password}</code>
            </p>
            <p class="hint">{texts.addedHint}</p>
            <div class="actions">
              <CopyButton text={added.password ?? ''} label={common.copy} />
              <button type="button" onClick={() => setAdded(undefined)}>
                {common.close}
              </button>
            </div>
          </div>
        </Dialog>
      )}
    </>
  )
}
