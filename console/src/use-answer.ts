import { useCallback, useLayoutEffect, useState } from 'preact/hooks'
import type { Problem } from '#client'
import { ask, asProblem, type DocumentOf, type ParametersOf, type Question } from './api.ts'

/** What a page knows of the answer to its question. */
export interface Answer<T> {
  /** The last answer; it stays while the next one loads. */
  readonly value: T | undefined
  readonly exitCode: number
  readonly problem: Problem | undefined
  readonly isLoading: boolean
  readonly reload: () => void
}

interface State<T> {
  readonly key: string
  readonly value?: T
  readonly exitCode?: number
  readonly problem?: Problem
}

/**
 * Asks a question and follows its parameters. A question that is no longer shown is cancelled.
 * `undefined` as path asks nothing. `Document` is for paths whose answer depends on the parameters.
 */
export function useAnswer<
  Path extends Question,
  Document extends DocumentOf<Path> = DocumentOf<Path>,
>(
  path: Path | undefined,
  parameters: ParametersOf<Path>,
  { isOptional = false } = {},
): Answer<Document> {
  const [turn, setTurn] = useState(0)
  const [state, setState] = useState<State<Document>>({ key: '' })
  const asked = path === undefined ? '' : JSON.stringify([path, parameters])
  const key = asked === '' ? '' : `${turn} ${asked}`

  // Before the frame is painted: a question need not wait for it.
  useLayoutEffect(() => {
    if (asked === '') return
    const [name, given] = JSON.parse(asked) as [Path, ParametersOf<Path>]
    const controller = new AbortController()
    ask(name, given, { signal: controller.signal, isOptional }).then(
      ({ document, exitCode }) => setState({ key, value: document as Document, exitCode }),
      (error: unknown) => {
        if (controller.signal.aborted) return
        setState({ key, problem: asProblem(error) })
      },
    )
    return () => controller.abort()
  }, [key, asked, isOptional])

  const reload = useCallback(() => setTurn((last) => last + 1), [])
  const isCurrent = state.key === key
  return {
    // An answer about something else is not shown, one that is being refreshed is.
    value: asked !== '' && state.key.endsWith(asked) ? state.value : undefined,
    exitCode: state.exitCode ?? 0,
    problem: isCurrent ? state.problem : undefined,
    isLoading: asked !== '' && !isCurrent,
    reload,
  }
}
