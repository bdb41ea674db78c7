/** RFC 9113 7. */
export const ErrorCode = {
  noError: 0x0,
  protocolError: 0x1,
  internalError: 0x2,
  flowControlError: 0x3,
  settingsTimeout: 0x4,
  streamClosed: 0x5,
  frameSizeError: 0x6,
  refusedStream: 0x7,
  cancel: 0x8,
  compressionError: 0x9,
  connectError: 0xa,
  enhanceYourCalm: 0xb,
  inadequateSecurity: 0xc,
  http11Required: 0xd,
} as const

/** The peer broke a rule for which its connection ends (RFC 9113 5.4.1). */
export class ConnectionError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.name = 'ConnectionError'
    this.code = code
  }
}

export function protocolError(message: string): ConnectionError {
  return new ConnectionError(ErrorCode.protocolError, message)
}
