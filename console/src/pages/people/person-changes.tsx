import { useState } from 'preact/hooks'
import type { UserShow } from '#client'
import { Change } from '../../components/change.tsx'
import { Combobox } from '../../components/combobox.tsx'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { useNames } from '../../use-names.ts'
import { texts as bilingual } from './texts.ts'

interface PersonChangesProps {
  readonly account: UserShow
  readonly onDone: () => void
}

/** What can be changed about an account, each by the command of the same name. */
export function PersonChanges({ account, onDone }: PersonChangesProps) {
  const texts = useTexts(bilingual)
  const { username: name, kind, enabled, lockouts, sessions } = account
  const common = { needs: 'publisher', onDone } as const
  if (kind === 'service') return null
  return (
    <div class="actions block">
      <ChangeRole account={account} onDone={onDone} />
      {(lockouts === null || lockouts.length > 0) && (
        <Change
          {...common}
          label={texts.unlock}
          title={texts.unlockTitle(name)}
          operation="login/unlock"
          body={{ user: name }}
        >
          <p>{texts.unlockEffect}</p>
        </Change>
      )}
      {sessions !== 0 && (
        <Change
          {...common}
          label={texts.endSessions}
          title={texts.endSessionsTitle(name)}
          operation="session/end"
          body={{ user: name }}
          isDanger
        >
          <p>{texts.endSessionsEffect}</p>
        </Change>
      )}
      {enabled ? (
        <Change
          {...common}
          label={texts.disable}
          title={texts.disableTitle(name)}
          operation="user/disable"
          body={{ name }}
          typed={name}
          isDanger
        >
          <p>{texts.disableEffect}</p>
        </Change>
      ) : (
        <Change
          {...common}
          label={texts.enable}
          title={texts.enableTitle(name)}
          operation="user/enable"
          body={{ name }}
        >
          <p>{texts.enableEffect}</p>
        </Change>
      )}
    </div>
  )
}

function ChangeRole({ account: { username: name, roleKey }, onDone }: PersonChangesProps) {
  const texts = useTexts(bilingual)
  const common = useTexts(commonTexts)
  const names = useNames()
  const [role, setRole] = useState(roleKey)
  return (
    <Change
      needs="publisher"
      onDone={onDone}
      label={texts.changeRole}
      title={texts.changeRoleTitle(name)}
      operation="user/role"
      body={{ name, role: role.trim() }}
      typed={name}
    >
      <p>{texts.changeRoleEffect}</p>
      <Combobox
        label={common.role}
        name="role"
        value={role}
        onValue={setRole}
        choices={names.roles}
        isRequired
      />
    </Change>
  )
}
