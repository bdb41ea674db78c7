const MASK = '[redacted]'

/** Tokens, whoever made them; what follows `Bearer`; the user and password of an address. */
const credentials = [
  /\beyJ[\w-]{5,}\.[\w-]+\.[\w-]*/g,
  /(?<=\bbearer\s+)\S+/gi,
  /(?<=[a-z]:\/\/)[^\s/@]+(?=@)/gi,
]

/** A text without what may not be written down. */
type Clean = (text: string) => string

/** Takes out these secrets, and what looks like a credential. */
export function createClean(secrets: readonly string[]): Clean {
  const longestFirst = [...secrets].filter(Boolean).sort((a, b) => b.length - a.length)

  return (text) => {
    const without = longestFirst.reduce((rest, secret) => rest.replaceAll(secret, MASK), text)
    return credentials.reduce((rest, form) => rest.replace(form, MASK), without).slice(0, mostText)
  }
}

export type DescribeError = (error: unknown) => {
  readonly type: string
  readonly message: string
  readonly stack: string | undefined
  readonly cause?: string
}

/**
 * What of an error that nobody expected may be written down: kind, message and stack, each of them
 * clean. Its other fields stay out: those of
 * a database's hold the values of a row, those of Redis the arguments of a command. Never throws.
 */
export function createDescribeError(clean: Clean): DescribeError {
  return (error) => {
    try {
      if (!(error instanceof Error)) {
        return { type: typeof error, message: clean(String(error)), stack: undefined }
      }
      const { name, message, stack } = error
      return {
        type: clean(String(name)),
        message: clean(String(message)),
        stack: stack === undefined ? undefined : clean(String(stack)),
        ...(error.cause instanceof Error && { cause: clean(error.cause.message) }),
      }
    } catch {
      return { type: 'unknown', message: 'unreadable error', stack: undefined }
    }
  }
}

const mostText = 8192
