import type { Readable } from 'node:stream'
import type { Refusal } from '../../kernel/errors.ts'
import type { Notes } from './notes.ts'

/** A request as it was read: nothing is decoded or trusted yet. */
export interface Arrival {
  readonly method: string
  readonly target: string
  /** Where the target came from, if it was a URL: this host counts, and not that of the Host header. */
  readonly url?: { readonly scheme: string; readonly authority: string | undefined } | undefined
  /** `2` only for a stream of HTTP/2: a request line that says `HTTP/2.0` has the version `2.0`. */
  readonly httpVersion: string
  readonly rawHeaders: readonly string[]
  readonly remoteAddress: string
  readonly encrypted: boolean
  /** The name that the client sent in the TLS handshake (SNI). */
  readonly serverName?: string | undefined
  /** Absent only if the request certainly has no body. */
  readonly body: Body | undefined
  /** Set if the client asks to switch protocols. */
  readonly upgrade?: Upgrade | undefined
  readonly notes: Notes
}

export type Body = Readable & {
  /** Whether all of it has arrived. */
  readonly complete: boolean
  /** Why it will never be complete, unless the client has left. */
  readonly failure?: Refusal
  /** Set for a gRPC call that is forwarded over HTTP/2: its body lasts as long as the call. */
  lasts?: boolean
}

/** The protocol that the client asks for, and the bytes of it that it has already sent. */
export interface Upgrade {
  readonly protocol: string
  readonly head: Buffer
}
