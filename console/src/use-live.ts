import { useEffect, useRef, useState } from 'preact/hooks'
import type { Problem, Streams } from '#client'
import { follow } from './api.ts'
import { inLiveSlot } from './live-slots.ts'

/** `waiting`: as many live pages as a browser can have are open in other tabs. */
export type LiveState = 'connecting' | 'live' | 'broken' | 'waiting'

export interface Live {
  readonly state: LiveState
  /** Why it is broken. */
  readonly problem: Problem | undefined
}

const connecting: Live = { state: 'connecting', problem: undefined }

/** Calls back for each event of a stream, parsed. A tab that is hidden has no stream. */
export function useLive<Path extends keyof Streams>(
  path: Path,
  onEvent: (event: Streams[Path]) => void,
): Live {
  const [live, setLive] = useState(connecting)
  const latest = useRef(onEvent)
  latest.current = onEvent

  useEffect(() => {
    let controller: AbortController | undefined
    function start(): void {
      if (controller !== undefined || document.hidden) return
      controller = new AbortController()
      setLive(connecting)
      void run(controller.signal)
    }
    function run(signal: AbortSignal): Promise<void> {
      const work = () =>
        follow(path, {
          signal,
          onEvent: ({ type, data }) =>
            latest.current({ event: type, data: JSON.parse(data) } as Streams[Path]),
          onOpen: () => setLive({ state: 'live', problem: undefined }),
          onBroken: (problem) => setLive({ state: 'broken', problem }),
        })
      return inLiveSlot(signal, () => setLive({ state: 'waiting', problem: undefined }), work)
    }
    function stop(): void {
      controller?.abort()
      controller = undefined
    }
    const onVisibility = () => (document.hidden ? stop() : start())
    start()
    document.addEventListener('visibilitychange', onVisibility)
    return () => {
      stop()
      document.removeEventListener('visibilitychange', onVisibility)
    }
  }, [path])
  return live
}
