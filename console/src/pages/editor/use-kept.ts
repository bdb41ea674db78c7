import { useEffect, useState } from 'preact/hooks'
import { type Draft, storeDraft } from '../../state/draft.ts'

/** Short enough that a reload loses at most a word. */
const pauseMs = 300

/**
 * Keeps a changed draft across reloads, and asks before its tab is closed. Returns whether the browser has
 * room for it.
 */
export function useKept(username: string, draft: Draft, isChanged: boolean): boolean {
  const [isKept, setKept] = useState(true)
  useEffect(() => {
    const store = () => setKept(storeDraft(username, isChanged ? draft : undefined))
    const timer = setTimeout(store, pauseMs)
    const onHide = () => void storeDraft(username, isChanged ? draft : undefined)
    addEventListener('pagehide', onHide)
    return () => {
      clearTimeout(timer)
      removeEventListener('pagehide', onHide)
    }
  }, [username, draft, isChanged])

  useEffect(() => {
    if (!isChanged) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [isChanged])
  return isKept
}
