import { useEffect, useState } from 'preact/hooks'
import type { Problem } from '#client'
import { addressOf } from '../../address.ts'
import { asProblem, textOf } from '../../api.ts'
import { Banner } from '../../components/banner.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { EmptyState, ErrorState, Loading } from '../../components/states.tsx'
import { isAtLeast } from '../../lib/console-roles.ts'
import type { PageProps } from '../../pages.ts'
import { open } from '../../router.ts'
import { type Draft, storeDraft, storedDraft } from '../../state/draft.ts'
import { session } from '../../state/session.ts'
import { useStore } from '../../state/store.ts'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { beginDraft } from './begin.ts'
import { texts as bilingual } from './texts.ts'
import { Workbench } from './workbench.tsx'

/** A draft of a policy: edited here, checked by the commands, and saved as a proposal. */
export function Page({ query }: PageProps) {
  const texts = useTexts(bilingual)
  const { pages } = useTexts(commonTexts)
  const reader = useStore(session)
  if (!reader) return null
  const mayEdit = isAtLeast(reader.role, 'author')
  return (
    <>
      <PageHeader title={pages.editor} about={texts.about} />
      {mayEdit ? (
        <Drafting key={reader.username} username={reader.username} revision={query['revision']} />
      ) : (
        <EmptyState title={texts.needsAuthor}>
          <p>{texts.needsAuthorHint}</p>
        </EmptyState>
      )}
    </>
  )
}

interface DraftingProps {
  readonly username: string
  /** What a link begins with. */
  readonly revision: string | undefined
}

interface Beginning {
  readonly revision: string | undefined
  /** Each attempt is another one. */
  readonly turn: number
}

function Drafting({ username, revision }: DraftingProps) {
  const texts = useTexts(bilingual)
  const [draft, setDraft] = useState(() => storedDraft(username))
  const [proposed, setProposed] = useState<string>()
  const [beginning, setBeginning] = useState<Beginning | undefined>(() =>
    draft === undefined ? { revision, turn: 0 } : undefined,
  )
  const [problem, setProblem] = useState<Problem>()

  useEffect(() => {
    if (beginning === undefined) return
    const controller = new AbortController()
    const { signal } = controller
    setProblem(undefined)
    beginDraft(beginning.revision, signal).then(
      (begun) => {
        if (signal.aborted) return
        storeDraft(username, undefined)
        setDraft(begun)
        setBeginning(undefined)
      },
      (error: unknown) => !signal.aborted && setProblem(asProblem(error)),
    )
    return () => controller.abort()
  }, [beginning, username])

  const begin = (from: string | undefined) => {
    open('editor', { revision: from }, { replace: true })
    setBeginning({ revision: from, turn: (beginning?.turn ?? 0) + 1 })
  }
  const finish = (stored: string) => {
    setProposed(stored)
    setDraft(undefined)
    begin(undefined)
  }
  if (problem !== undefined && draft === undefined) {
    return <ErrorState problem={problem} onRetry={() => begin(beginning?.revision)} />
  }
  return (
    <>
      {proposed !== undefined && <Proposed revision={proposed} />}
      {problem !== undefined && (
        <Banner kind="error" isAnnounced>
          {textOf(problem)}
        </Banner>
      )}
      {draft !== undefined && revision !== undefined && draft.revision !== revision && (
        <Banner kind="warning">
          <p>{texts.unfinished}</p>
          <button type="button" disabled={beginning !== undefined} onClick={() => begin(revision)}>
            {texts.beginInstead(revision)}
          </button>
        </Banner>
      )}
      {draft === undefined ? (
        <Loading />
      ) : (
        <Workbench
          key={draftKey(draft)}
          username={username}
          first={draft}
          onBegin={begin}
          onProposed={finish}
        />
      )}
    </>
  )
}

/** Another draft is another workbench: results and undo history are of one draft. */
const keys = new WeakMap<Draft, number>()
let drafts = 0
function draftKey(draft: Draft): number {
  const known = keys.get(draft) ?? ++drafts
  keys.set(draft, known)
  return known
}

function Proposed({ revision }: { revision: string }) {
  const texts = useTexts(bilingual)
  return (
    <Banner kind="info" isAnnounced>
      {texts.proposed(revision)}{' '}
      <a href={addressOf('changes', { proposal: revision })}>{texts.showProposal}</a>
    </Banner>
  )
}
