import { useState } from 'preact/hooks'
import { change } from '../../access.ts'
import { addressOf } from '../../address.ts'
import { asProblem, textOf } from '../../api.ts'
import { Banner } from '../../components/banner.tsx'
import { useMayChange } from '../../components/change.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Field } from '../../components/field.tsx'
import type { Draft } from '../../state/draft.ts'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { liveRevision } from './begin.ts'
import { texts as bilingual } from './texts.ts'

interface ProposeProps {
  readonly draft: Draft
  readonly isChanged: boolean
  /** The command would refuse it. */
  readonly isRefused: boolean
  /** Continues a draft over a policy that became live meanwhile. */
  readonly onOver: (live: string) => void
  readonly onProposed: (revision: string) => void
}

/** Saves the draft as a proposal. Nothing changes for the gateways until someone publishes it. */
export function Propose(props: ProposeProps) {
  const texts = useTexts(bilingual)
  const [isOpen, setOpen] = useState(false)
  if (!useMayChange('author')) return <p class="hint">{texts.readOnly}</p>
  return (
    <>
      <button
        type="button"
        class="primary"
        disabled={!props.isChanged || props.isRefused}
        onClick={() => setOpen(true)}
      >
        {texts.propose}
      </button>
      {isOpen && <ProposeDialog {...props} onClose={() => setOpen(false)} />}
    </>
  )
}

function ProposeDialog(props: ProposeProps & { readonly onClose: () => void }) {
  const { draft, onOver, onProposed, onClose } = props
  const texts = useTexts(bilingual)
  const common = useTexts(commonTexts)
  const [message, setMessage] = useState('')
  const [isUntested, setUntested] = useState(false)
  const [problem, setProblem] = useState<string>()
  const [newer, setNewer] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const hasTests = draft.files.some(({ name }) => name.startsWith('tests/'))

  const propose = async () => {
    const { files, over } = draft
    const body = {
      ...{ files, message: message.trim(), over: over ?? 'live' },
      ...(!hasTests && isUntested && { 'no-tests': true }),
    }
    const answer = await change('policy/propose', body)
    if (answer === undefined) return
    const { document } = answer
    if (!('ok' in document)) return onProposed(document.revision)
    const failed = 'failed' in document ? document.failed : 0
    setProblem(failed > 0 ? texts.testsFail(failed) : texts.untested)
  }
  const submit = async (event: Event) => {
    event.preventDefault()
    if (isBusy) return
    setBusy(true)
    setProblem(undefined)
    try {
      await propose()
    } catch (error) {
      const refused = asProblem(error)
      const { status } = refused
      setProblem(status === 0 ? common.unreachable : textOf(refused))
      const live = status === 0 ? null : await liveRevision().catch(() => null)
      setNewer(live !== null && live !== draft.over ? live : undefined)
    } finally {
      setBusy(false)
    }
  }

  return (
    <Dialog title={texts.proposeTitle} onClose={onClose}>
      <form class="dialog-form" onSubmit={(event) => void submit(event)}>
        <p>{texts.proposeEffect}</p>
        <Field
          label={texts.why}
          hint={texts.whyHint}
          name="message"
          value={message}
          onValue={setMessage}
          autocomplete="off"
          isRequired
          isFirst
        />
        {!hasTests && (
          <label class="check">
            <input
              type="checkbox"
              checked={isUntested}
              onChange={(event) => setUntested(event.currentTarget.checked)}
            />
            {texts.withoutTests}
          </label>
        )}
        {newer !== undefined ? (
          <Overtaken
            draft={draft}
            live={newer}
            onContinue={() => {
              onOver(newer)
              onClose()
            }}
          />
        ) : (
          problem !== undefined && (
            <Banner kind="error" isAnnounced>
              {problem}
            </Banner>
          )
        )}
        <div class="actions">
          <button type="submit" class="primary" disabled={isBusy || newer !== undefined}>
            {texts.propose}
          </button>
          <button type="button" onClick={onClose}>
            {common.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

interface OvertakenProps {
  readonly draft: Draft
  readonly live: string
  readonly onContinue: () => void
}

/** Another policy was published since the draft began: proposing it unseen would undo that one. */
function Overtaken({ draft, live, onContinue }: OvertakenProps) {
  const texts = useTexts(bilingual)
  return (
    <Banner kind="error" isAnnounced>
      <p>{texts.overtaken(live)}</p>
      <div class="actions">
        {draft.over !== null && (
          <a
            class="button"
            target="_blank"
            rel="noopener"
            href={addressOf('changes', { from: draft.over, to: live })}
          >
            {texts.showChange}
          </a>
        )}
        <button type="button" onClick={onContinue}>
          {texts.continueOver}
        </button>
      </div>
    </Banner>
  )
}
