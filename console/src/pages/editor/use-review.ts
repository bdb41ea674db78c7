import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import {
  type Answered,
  type PolicyCheck,
  type PolicyDiff,
  type PolicyTest,
  type Posts,
  Problem,
} from '#client'
import { asProblem, submit } from '../../api.ts'
import type { DraftFile } from '../../lib/draft.ts'

/** What the commands say about a draft. */
export interface Review {
  /** The files that were checked. */
  readonly files: readonly DraftFile[]
  readonly check?: PolicyCheck
  readonly tests?: PolicyTest | Problem
  readonly diff?: PolicyDiff | Problem
  /** Why nothing could be replayed. */
  readonly problem?: Problem
}

interface Reviewing {
  readonly review: Review | undefined
  readonly isBusy: boolean
  readonly start: (files: readonly DraftFile[]) => void
}

/** Checks a draft, then tests it and compares it with the live policy. A later start replaces an earlier one. */
export function useReview(isPublished: boolean): Reviewing {
  const [review, setReview] = useState<Review>()
  const [isBusy, setBusy] = useState(false)
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])

  const start = useCallback(
    (files: readonly DraftFile[]) => {
      running.current?.abort()
      const controller = new AbortController()
      running.current = controller
      const { signal } = controller
      const show = (next: Review) => {
        if (!signal.aborted) setReview(next)
      }
      setBusy(true)
      reviewDraft(files, { isPublished, signal, show }).then(
        () => !signal.aborted && setBusy(false),
        (error: unknown) => {
          if (signal.aborted) return
          setBusy(false)
          setReview({ files, problem: asProblem(error) })
        },
      )
    },
    [isPublished],
  )
  return { review, isBusy, start }
}

interface Asking {
  readonly isPublished: boolean
  readonly signal: AbortSignal
  /** Gets each answer as it comes. */
  readonly show: (review: Review) => void
}

async function reviewDraft(
  files: readonly DraftFile[],
  { isPublished, signal, show }: Asking,
): Promise<void> {
  const check = await askCheck({ files, ...(isPublished && { against: 'live' }) }, signal)
  show({ files, check })
  if (check.errors.length > 0) return
  const tests = await submit('policy/test', { files }, { signal }).then(answerOf, asProblem)
  show({ files, check, tests })
  if (!isPublished) return
  const compared = submit('policy/diff', { from: 'live', files }, { signal })
  const diff = await compared.then(answerOf, asProblem)
  show({ files, check, tests, diff })
}

/** Errors of the files are the answer, which the command prints with another exit code. */
async function askCheck(
  body: Posts['policy/check']['input'],
  signal: AbortSignal,
): Promise<PolicyCheck> {
  try {
    return (await submit('policy/check', body, { signal })).document
  } catch (error) {
    if (error instanceof Problem && error.status === 422) return error.body as PolicyCheck
    throw error
  }
}

function answerOf<T>({ document }: Answered<T>): T {
  return document
}
