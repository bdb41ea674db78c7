/**
 * An error of normal operation, whose message says where it comes from. V8 takes about 8 µs to record a
 * stack trace, a quarter of the CPU of a refused request, and floods of those are attacks.
 */
export class UntracedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(message, options)
    Error.stackTraceLimit = stackTraceLimit
  }
}
