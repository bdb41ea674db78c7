import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { Body } from '../../gateway/arrival/arrival.ts'

/** A request as Node's parser, the plain request reader or a connection of HTTP/2 delivers it. */
export type IncomingRequest = IncomingMessage | PlainIncomingRequest | StreamIncomingRequest

/** A request that arrived complete (`plain-connections.ts`). */
export interface PlainIncomingRequest {
  readonly method: string
  readonly url: string
  readonly httpVersion: '1.1'
  readonly rawHeaders: readonly string[]
  readonly socket: Socket
  readonly complete: true
  readonly body: Body | undefined
}

/** A request over HTTP/2 (`stream-connections.ts`). */
export interface StreamIncomingRequest {
  readonly method: string
  readonly url: string
  readonly httpVersion: '2'
  readonly rawHeaders: readonly string[]
  readonly socket: Socket
  readonly complete: boolean
  readonly body: Body | undefined
}

export class CompleteBody extends Readable implements Body {
  readonly complete = true

  constructor(bytes: Buffer) {
    super({ read() {} })
    this.push(bytes)
    this.push(null)
  }
}
