import { ConnectionError, ErrorCode, protocolError } from './error-codes.ts'
import { defaultWindow, maxWindow, Setting } from './frames.ts'

interface SettingsEvents {
  /** The peer keeps a table of so many bytes for the headers that we send. */
  readonly tableSize: (bytes: number) => void
  /** By how much the windows of all streams that we send on change. */
  readonly windowChanged: (more: number) => void
}

/** What the peer has said in its SETTINGS (RFC 9113 6.5.2). */
export class PeerSettings {
  readonly #isServer: boolean
  readonly #events: SettingsEvents
  hasArrived = false
  /** Of a new stream that we send on. */
  initialWindow = defaultWindow
  /** How many streams it lets us have open. */
  maxStreams = Number.POSITIVE_INFINITY

  constructor(role: 'server' | 'client', events: SettingsEvents) {
    this.#isServer = role === 'server'
    this.#events = events
  }

  /** Throws a ConnectionError for a value that is not valid. */
  take(settings: readonly (readonly [setting: number, value: number])[]): void {
    for (const [setting, value] of settings) this.#take(setting, value)
    this.hasArrived = true
  }

  #take(setting: number, value: number): void {
    switch (setting) {
      case Setting.headerTableSize:
        this.#events.tableSize(value)
        return
      case Setting.enablePush:
        if (value > 1 || (!this.#isServer && value === 1))
          throw protocolError('invalid ENABLE_PUSH')
        return
      case Setting.maxConcurrentStreams:
        this.maxStreams = value
        return
      case Setting.initialWindowSize:
        this.#changeWindow(value)
        return
      case Setting.maxFrameSize:
        if (value < 16_384 || value > 16_777_215) throw protocolError('invalid MAX_FRAME_SIZE')
        return
      default:
        return
    }
  }

  #changeWindow(value: number): void {
    if (value > maxWindow) {
      throw new ConnectionError(ErrorCode.flowControlError, 'invalid INITIAL_WINDOW_SIZE')
    }
    const more = value - this.initialWindow
    this.initialWindow = value
    this.#events.windowChanged(more)
  }
}
