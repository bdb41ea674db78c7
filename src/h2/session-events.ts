import type { Flood } from './flood-limits.ts'
import type { HeaderLimits } from './hpack/decoder.ts'
import type { RequestFields } from './message-fields.ts'
import type { Stream, StreamEvents } from './stream.ts'

export interface SessionSettings extends HeaderLimits {
  /** The most streams that the peer may have open. A client's peer may open none. */
  readonly maxStreams: number
  /** How much the peer may send ahead on a stream, and on all of them. */
  readonly streamWindow: number
  readonly connectionWindow: number
}

/** Why a session ended. */
export interface SessionEnd {
  readonly code: number
  readonly reason: string
  readonly by: 'peer' | 'us'
  /** Set if the peer sent too much of this. */
  readonly flood: Flood | undefined
}

export interface SessionEvents {
  /** Only of a server: a request has arrived. */
  request(stream: Stream, fields: RequestFields): StreamEvents
  /** Only of a server: the stream of a malformed request was reset, or one that is too large answered. */
  rejected(reason: 'malformed' | 'too-large' | 'refused', details: string): void
  /** The last stream ended, or the first began. */
  idle(isIdle: boolean): void
  /** The peer takes no streams after this one. */
  goaway(lastStreamId: number, code: number): void
  /** The peer's settings have arrived or changed. */
  settings(): void
  /** The last event: close the connection, after all that was sent has left. */
  ended(end: SessionEnd): void
}
