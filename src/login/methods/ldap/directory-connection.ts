import type { Socket } from 'node:net'
import type { Client } from 'ldapts'
import { withTimeout } from '../../../background/with-timeout.ts'
import type { Deadline } from './deadline.ts'
import {
  accountStateOf,
  DirectoryError,
  isNoSuchObject,
  isRefusedBind,
  reasonOf,
} from './directory-error.ts'
import { type DirectoryEntry, toEntry } from './entry.ts'
import { openSocket, type ServerAddress } from './open-socket.ts'

export interface SearchRequest {
  readonly base: string
  readonly scope: 'base' | 'one' | 'sub'
  readonly filter: string
  readonly attributes: readonly string[]
  /** More entries than these are not read. */
  readonly most: number
}

/** As Active Directory spells it. Some of its values would pass for text. */
const binaryAttributes = ['objectGUID']

/** A thousand groups with long names take less. */
const maxBytesPerAnswer = 2_097_152

/**
 * One connection. The library opens connections by itself, in plain text after a lost StartTLS session
 * and without the bind after any loss, so it gets one that is open already and never a second one.
 * Every error ends the connection.
 */
export class DirectoryConnection {
  readonly url: string
  /** What is wrong with the account whose bind was refused, if the server says it. */
  accountState: string | undefined
  readonly #socket: Socket
  readonly #client: Client
  #received = 0
  #allowed = 0
  #running = 0

  private constructor(url: string, socket: Socket, connect: (use: () => Socket) => Client) {
    this.url = url
    this.#socket = socket
    let used = false
    this.#client = connect(() => {
      if (used || socket.readyState !== 'open') throw new Error('connection closed')
      used = true
      socket.on('data', (chunk: Buffer) => this.#count(chunk.length))
      return socket
    })
  }

  static async open(server: ServerAddress, deadline: Deadline): Promise<DirectoryConnection> {
    const { Client } = await import('ldapts')
    const socket = await openSocket(server, deadline)
    // The URL is not used: the socket has its address, and TLS, already.
    return new DirectoryConnection(
      server.url,
      socket,
      (createConnection) => new Client({ url: 'ldap://unused', createConnection }),
    )
  }

  /** Whether it is open and the last bind succeeded. Without a bind, searches run anonymously. */
  get isBound(): boolean {
    return this.#socket.readyState === 'open' && this.#client.isBound
  }

  /** Whether the password is that of the name: a DN, or a user principal name. */
  async bind(name: string, password: string, deadline: Deadline): Promise<boolean> {
    // A server may accept an empty password, or an empty name, without checking anything (RFC 4513
    // 5.1.2), and the library takes a name such as EXTERNAL for a SASL mechanism.
    if (!/[=@\\]/.test(name) || password.trim() === '' || password.includes('\0')) {
      throw new DirectoryError(`${this.url}: bind without a name or password refused`)
    }
    try {
      await this.#run(() => this.#client.bind(name, password), deadline)
    } catch (error) {
      this.close()
      this.accountState = accountStateOf(error)
      if (isRefusedBind(error)) return false
      throw this.#failure('bind', error)
    }
    if (!this.isBound) throw this.#failure('bind', new Error('connection closed'))
    return true
  }

  /** Entries only: references to other servers are not followed. */
  async search(request: SearchRequest, deadline: Deadline): Promise<readonly DirectoryEntry[]> {
    if (!this.isBound) throw this.#failure('search', new Error('connection closed'))
    const { base, scope, filter, attributes, most } = request
    const options = {
      ...{ scope, filter, attributes: [...attributes], sizeLimit: most },
      timeLimit: Math.ceil(deadline.leftMs() / 1000),
      explicitBufferAttributes: binaryAttributes,
    }
    try {
      const { searchEntries } = await this.#run(() => this.#client.search(base, options), deadline)
      return searchEntries.map(toEntry)
    } catch (error) {
      this.close()
      if (isNoSuchObject(error)) {
        throw this.#failure('search', new Error(`the base ${base} does not exist, or is hidden`))
      }
      throw this.#failure('search', error)
    }
  }

  close(): void {
    this.#socket.destroy()
  }

  async #run<T>(work: () => Promise<T>, deadline: Deadline): Promise<T> {
    if (this.#running === 0) [this.#received, this.#allowed] = [0, 0]
    this.#running++
    this.#allowed += maxBytesPerAnswer
    try {
      return await withTimeout(Math.ceil(deadline.leftMs()), work())
    } finally {
      this.#running--
    }
  }

  /** The library buffers whatever length a server announces. */
  #count(bytes: number): void {
    this.#received += bytes
    if (this.#received > this.#allowed) this.#socket.destroy(new Error('the answer is too large'))
  }

  #failure(step: string, error: unknown): DirectoryError {
    return new DirectoryError(`${this.url}: ${step}: ${reasonOf(error)}`, error)
  }
}
