import type { IncomingMessage } from 'node:http'

/** The body of an answer. Throws at one that is larger than `maxBytes`, without reading the rest. */
export async function readAnswer(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of response) {
    length += chunk.length
    if (length > maxBytes) throw new Error(`the answer is larger than ${maxBytes / 1024} KiB`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
