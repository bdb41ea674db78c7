import { useState } from 'preact/hooks'
import { type TrafficHistory, withPoint } from './lib/live/traffic.ts'
import { type Live, useLive } from './use-live.ts'

interface FollowedTraffic {
  readonly live: Live
  readonly history: TrafficHistory
  /** Grows with each step: what is asked again with it is as new as the chart. */
  readonly turn: number
}

const nothing: TrafficHistory = { stepMs: 10_000, points: [] }

/** Requests of the last hour, step by step. */
export function useTraffic(): FollowedTraffic {
  const [{ history, turn }, setState] = useState({ history: nothing, turn: 0 })
  const live = useLive('live/traffic', ({ event, data }) => {
    if (event === 'history') {
      // The first one comes with the page, whose questions are as new.
      setState((last) => ({
        history: data,
        turn: last.history === nothing ? last.turn : last.turn + 1,
      }))
    }
    if (event !== 'point') return
    setState((last) => ({
      history: withPoint(last.history, data),
      turn: last.turn + 1,
    }))
  })
  return { live, history, turn }
}
