import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { loadDriver } from './redis-driver.ts'

/** A server to connect to. */
export interface RedisHost {
  readonly host: string
  readonly port: number
}

export interface ConnectorParts {
  readonly tls: boolean
  /** Names the server, anew at every attempt. The driver passes its own host and port. */
  readonly find: (own: RedisHost) => RedisHost | Promise<RedisHost>
  /** The pause after the given number of attempts to find a server. */
  readonly retryMs: (times: number) => number
  /** Whether only a primary will do. */
  readonly primaryOnly?: boolean
  /** Called with every stream, before it is connected. */
  readonly onStream?: (stream: Socket) => void
}

/** Some drivers' options, as far as a connector needs them. */
interface DriverOptions extends RedisHost {
  readonly disconnectTimeout: number
}

/**
 * How the driver opens a connection. Its own connectors leave out the server name (SNI) by which
 * services behind one address choose the certificate, and ask sentinels one after the other.
 */
export function connectorTo(parts: ConnectorParts) {
  const { tls, find, retryMs, primaryOnly = false, onStream } = parts
  const { AbstractConnector } = loadDriver()
  return class Connector extends AbstractConnector {
    readonly #own: RedisHost

    constructor(options: unknown) {
      const { host, port, disconnectTimeout } = options as DriverOptions
      super(disconnectTimeout)
      this.#own = { host, port }
    }

    override async connect(emit: (type: string, error: Error) => void): Promise<Socket> {
      this.connecting = true
      const { host, port } = await this.#find(emit)
      const stream = tls
        ? connectTls({ host, port, ...(isIP(host) === 0 && { servername: host }) })
        : connectPlain({ host, port })
      stream.once('error', (error) => {
        this.firstError = error
      })
      this.stream = stream
      onStream?.(stream)
      return stream
    }

    /** Tries until a server is found: the driver gives up a connection after a failure here. */
    async #find(emit: (type: string, error: Error) => void): Promise<RedisHost> {
      for (let times = 1; ; times++) {
        try {
          const found = await find(this.#own)
          if (this.connecting) return found
        } catch (error) {
          emit('error', error instanceof Error ? error : new Error(String(error)))
          if (this.connecting) await pause(retryMs(times))
        }
        if (!this.connecting) throw new Error('Connection is closed.')
      }
    }

    /** A replica that a sentinel still calls primary is left again. */
    override check(info: { readonly role?: string }): boolean {
      return !primaryOnly || info.role === undefined || info.role === 'master'
    }
  }
}
