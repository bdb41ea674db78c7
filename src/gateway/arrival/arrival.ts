import type { Readable } from 'node:stream'
import type { Refusal } from '../../errors.ts'
import type { Notes } from './notes.ts'

/** A request as it came off the wire: nothing decoded, nothing trusted. */
export interface Arrival {
  readonly method: string
  readonly target: string
  readonly httpVersion: string
  readonly rawHeaders: readonly string[]
  readonly remoteAddress: string
  readonly encrypted: boolean
  /** Absent only where it is known that there is none. */
  readonly body: Body | undefined
  /** Only where the client asks to go on in another protocol. */
  readonly upgrade?: Upgrade | undefined
  readonly notes: Notes
}

/** What a client sends behind the head of its request. */
export type Body = Readable & {
  /** Whether the end of it has come. */
  readonly complete: boolean
  /** Why the end will never come, where that is not because the client has left. */
  readonly failure?: Refusal
}

/** What the client wants to go on with, and what it has already sent of it. */
export interface Upgrade {
  readonly protocol: string
  readonly head: Buffer
}
