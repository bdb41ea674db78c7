import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

/** What became of one export. */
export type Posted =
  | { readonly kind: 'accepted'; readonly rejected: number; readonly reason?: string }
  /** The collector may accept these spans later. */
  | { readonly kind: 'later'; readonly reason: string; readonly afterMs: number | undefined }
  | { readonly kind: 'refused'; readonly reason: string }

const timeoutMs = 10_000
const mostAnswerBytes = 65_536
const longestRetryAfterSeconds = 60
/** The statuses that OTLP lets a client retry. */
const retryable = new Set([429, 502, 503, 504])

const compress = promisify(gzip)

/** Sends one export by OTLP/HTTP, and says what became of it. */
export async function postSpans(url: URL, body: string, signal: AbortSignal): Promise<Posted> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      body: await compress(body, { level: 1 }),
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    })
    const answer = await readAtMost(response, mostAnswerBytes)
    if (response.ok) return { kind: 'accepted', ...readPartialSuccess(answer) }
    const reason = `status ${response.status}`
    if (!retryable.has(response.status)) return { kind: 'refused', reason }
    return { kind: 'later', reason, afterMs: readRetryAfter(response) }
  } catch (error) {
    return { kind: 'later', reason: reasonOf(error), afterMs: undefined }
  }
}

/** The text of a response, or nothing if it is too long to be one of a collector. */
async function readAtMost(response: Response, most: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of response.body ?? []) {
    length += chunk.length
    if (length > most) return ''
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** A collector may accept an export and reject some of its spans. */
function readPartialSuccess(answer: string): { rejected: number; reason?: string } {
  try {
    const { partialSuccess } = JSON.parse(answer)
    const rejected = Number(partialSuccess?.rejectedSpans ?? 0)
    if (!Number.isSafeInteger(rejected) || rejected <= 0) return { rejected: 0 }
    return { rejected, reason: String(partialSuccess.errorMessage ?? '').slice(0, 200) }
  } catch {
    return { rejected: 0 }
  }
}

function readRetryAfter({ headers }: Response): number | undefined {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  return seconds > 0 ? Math.min(seconds, longestRetryAfterSeconds) * 1000 : undefined
}

/** `fetch` hides the error of the connection in `cause`. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return `no response within ${timeoutMs / 1000} s`
  const { code, message } = (error.cause ?? error) as Error & { code?: unknown }
  return typeof code === 'string' ? code : message
}
