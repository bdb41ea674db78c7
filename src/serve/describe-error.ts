const MASK = '[redacted]'

/** JWTs, what follows `Bearer`, and user and password in a URL. */
const credentials = [
  /\beyJ[\w-]{5,}\.[\w-]+\.[\w-]*/g,
  /(?<=\bbearer\s+)\S+/gi,
  /(?<=[a-z]:\/\/)[^\s/@]+(?=@)/gi,
]

type Clean = (text: string) => string

/** Redacts these secrets, and everything that looks like a credential. */
export function createClean(secrets: readonly string[]): Clean {
  const longestFirst = [...secrets].filter(Boolean).sort((a, b) => b.length - a.length)

  return (text) => {
    const without = longestFirst.reduce((rest, secret) => rest.replaceAll(secret, MASK), text)
    return credentials.reduce((rest, form) => rest.replace(form, MASK), without).slice(0, maxLength)
  }
}

/**
 * The loggable parts of an unexpected error: type, message and stack, redacted. Other fields are left
 * out, because those of a database error hold the values of a row and those of a Redis error the
 * arguments of a command. Never throws.
 */
export function createDescribeError(clean: Clean) {
  return (error: unknown) => {
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

const maxLength = 8192
