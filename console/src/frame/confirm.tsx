import { useState } from 'preact/hooks'
import { confirmSession, providerAddress, providerUrl } from '../access.ts'
import { asProblem, textOf } from '../api.ts'
import { Banner } from '../components/banner.tsx'
import { Dialog } from '../components/dialog.tsx'
import { Field } from '../components/field.tsx'
import { confirmation } from '../state/confirmation.ts'
import { session } from '../state/session.ts'
import { useStore } from '../state/store.ts'
import { commonTexts, useTexts } from '../texts/texts.ts'

/** Asks for the password before a change, if the last one was entered too long ago. */
export function Confirm() {
  const waiting = useStore(confirmation)
  const current = useStore(session)
  if (waiting === undefined) return null
  const finish = (isConfirmed: boolean) => {
    confirmation.set(undefined)
    waiting.done(isConfirmed)
  }
  const provider = current?.confirmBy === 'provider' ? current.provider : null
  return provider === null ? (
    <PasswordDialog onFinish={finish} />
  ) : (
    <ProviderDialog provider={provider} onClose={() => finish(false)} />
  )
}

/** The provider sends the reader back to this page, where they repeat the change. */
function ProviderDialog({ provider, onClose }: { provider: string; onClose: () => void }) {
  const { confirm: texts, cancel } = useTexts(commonTexts)
  return (
    <Dialog title={texts.title} onClose={onClose}>
      <div class="dialog-form">
        <p>{texts.about}</p>
        <div class="actions">
          <a class="button" href={providerAddress(providerUrl(provider), { confirm: true })}>
            {texts.with(provider)}
          </a>
          <button type="button" onClick={onClose}>
            {cancel}
          </button>
        </div>
      </div>
    </Dialog>
  )
}

function PasswordDialog({ onFinish }: { onFinish: (isConfirmed: boolean) => void }) {
  const { confirm: texts, login, cancel } = useTexts(commonTexts)
  const [password, setPassword] = useState('')
  const [otp, setOtp] = useState('')
  const [wantsOtp, setWantsOtp] = useState(false)
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)

  const submit = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    setProblem(undefined)
    try {
      await confirmSession(password, otp || undefined)
      onFinish(true)
    } catch (error) {
      const problem = asProblem(error)
      const { status } = problem
      setBusy(false)
      setOtp('')
      if (status === 428 && !wantsOtp) setWantsOtp(true)
      else setProblem(status === 0 ? login.unreachable : textOf(problem) || login.failed)
    }
  }

  return (
    <Dialog title={texts.title} onClose={() => onFinish(false)}>
      <form class="dialog-form" onSubmit={(event) => void submit(event)}>
        <p>{texts.about}</p>
        {problem !== undefined && (
          <Banner kind="error" isAnnounced>
            {problem}
          </Banner>
        )}
        <Field
          label={login.password}
          name="password"
          type="password"
          value={password}
          onValue={setPassword}
          autocomplete="current-password"
          isRequired
          isFirst
        />
        {wantsOtp && (
          <Field
            label={login.otp}
            hint={login.otpHint}
            name="otp"
            value={otp}
            onValue={setOtp}
            autocomplete="one-time-code"
            isRequired
            isFirst
          />
        )}
        <div class="actions">
          <button type="submit" class="primary" disabled={isBusy}>
            {texts.submit}
          </button>
          <button type="button" onClick={() => onFinish(false)}>
            {cancel}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
