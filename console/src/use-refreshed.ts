import { useEffect, useRef } from 'preact/hooks'
import type { DocumentOf, ParametersOf, Question } from './api.ts'
import { type Answer, useAnswer } from './use-answer.ts'

/**
 * An answer that is asked for again whenever `turn` changes. While a question fails, the last answer
 * stays, with its problem.
 */
export function useRefreshed<Path extends Question>(
  path: Path | undefined,
  parameters: ParametersOf<Path>,
  {
    turn,
    isOptional = false,
  }: { readonly turn: string | number | null | undefined; readonly isOptional?: boolean },
): Answer<DocumentOf<Path>> {
  const answer = useAnswer(path, parameters, { isOptional })
  const { value, reload } = answer
  const last = useRef<DocumentOf<Path>>(undefined)
  if (value !== undefined) last.current = value
  const asked = useRef(turn)
  useEffect(() => {
    const before = asked.current
    asked.current = turn
    // With the first turn that is known, the first question was asked.
    if (before !== turn && before !== undefined) reload()
  }, [turn, reload])
  return { ...answer, value: value ?? last.current }
}
