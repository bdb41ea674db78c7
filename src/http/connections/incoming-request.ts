import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { Body } from '../../gateway/arrival/arrival.ts'

/** A request as it was read: by Node, or by us. */
export type IncomingRequest = IncomingMessage | PlainIncomingRequest

/** One that was all there when it was read (`plain-connections.ts`). */
export interface PlainIncomingRequest {
  readonly method: string
  readonly url: string
  readonly httpVersion: '1.1'
  readonly rawHeaders: readonly string[]
  readonly socket: Socket
  readonly complete: true
  readonly body: Body | undefined
}

/** A body that has come already. */
export class CompleteBody extends Readable implements Body {
  readonly complete = true

  constructor(bytes: Buffer) {
    super({ read() {} })
    this.push(bytes)
    this.push(null)
  }
}
