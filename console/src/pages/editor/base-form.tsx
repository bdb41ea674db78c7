import { useState } from 'preact/hooks'
import type { Proposal } from '#client'
import type { Draft } from '../../state/draft.ts'
import { useTexts } from '../../texts/texts.ts'
import { useAnswer } from '../../use-answer.ts'
import { DangerDialog } from './danger-dialog.tsx'
import { texts as bilingual } from './texts.ts'

interface BaseFormProps {
  readonly draft: Draft
  readonly isChanged: boolean
  readonly onBegin: (revision: string | undefined) => void
}

/** What the draft began with, and a choice of what to begin another one with. */
export function BaseForm({ draft, isChanged, onBegin }: BaseFormProps) {
  const texts = useTexts(bilingual)
  const [chosen, setChosen] = useState('')
  const [isAsking, setAsking] = useState(false)
  const isPublished = draft.over !== null
  const begin = () => {
    setAsking(false)
    onBegin(chosen === '' ? undefined : chosen)
  }
  const submit = (event: Event) => {
    event.preventDefault()
    if (isChanged) setAsking(true)
    else begin()
  }
  return (
    <form class="editor-base" onSubmit={submit}>
      <p>
        {texts.basedOn} <code>{draft.revision === null ? draft.policy : draft.revision}</code>{' '}
        {draft.revision !== null && draft.revision === draft.over && (
          <span class="tag yes">{texts.live}</span>
        )}{' '}
        {isChanged && <span class="tag part">{texts.unsaved}</span>}
      </p>
      <label class="field">
        {texts.beginWith}
        <select
          class="mono"
          value={chosen}
          onChange={(event) => setChosen(event.currentTarget.value)}
        >
          <option value="">{isPublished ? texts.livePolicy : draft.policy}</option>
          {isPublished && <Published />}
        </select>
      </label>
      <button type="submit">{texts.begin}</button>
      {isAsking && (
        <DangerDialog
          title={texts.discardTitle}
          effect={texts.discardEffect}
          action={texts.discard}
          onAction={begin}
          onClose={() => setAsking(false)}
        />
      )}
    </form>
  )
}

const mostShown = 100

/** Earlier revisions and open proposals. */
function Published() {
  const texts = useTexts(bilingual)
  const once = { isOptional: true }
  const history = useAnswer('policy/history', { limit: mostShown }, once)
  const proposals = useAnswer<'policy/proposals', readonly Proposal[]>('policy/proposals', {}, once)
  const revisions = new Map(history.value?.map((entry) => [entry.revision, entry.message]))
  return (
    <>
      {(proposals.value?.length ?? 0) > 0 && (
        <optgroup label={texts.proposals}>
          {proposals.value?.map(({ revision, message }) => (
            <Choice key={revision} revision={revision} message={message} />
          ))}
        </optgroup>
      )}
      {revisions.size > 0 && (
        <optgroup label={texts.revisions}>
          {[...revisions].map(([revision, message]) => (
            <Choice key={revision} revision={revision} message={message} />
          ))}
        </optgroup>
      )}
    </>
  )
}

function Choice({ revision, message }: { revision: string; message: string }) {
  return <option value={revision}>{`${revision.slice(0, 14)} ${message.slice(0, 60)}`}</option>
}
