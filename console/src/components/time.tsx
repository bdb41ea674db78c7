import { formatTime } from '../lib/times.ts'
import { language } from '../state/preferences.ts'
import { useStore } from '../state/store.ts'

/** A point in time, with the exact one of the command as its title. */
export function Time({ at }: { at: string | null | undefined }) {
  const reader = useStore(language)
  if (at === null || at === undefined) return null
  return (
    <time dateTime={at} title={at}>
      {formatTime(reader, at)}
    </time>
  )
}
