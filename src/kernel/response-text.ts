import type { IncomingMessage } from 'node:http'

/** Hands over the text of a response when it has ended. A longer one fails with an `error`. */
export function readText(
  response: IncomingMessage,
  maxBytes: number,
  done: (text: string) => void,
): void {
  const chunks: Buffer[] = []
  let bytes = 0
  response.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > maxBytes) response.destroy(new Error('the answer is too long'))
  })
  response.on('end', () => done(Buffer.concat(chunks).toString()))
}
