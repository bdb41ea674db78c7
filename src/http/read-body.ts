import type { Body } from '../gateway/arrival/arrival.ts'

/**
 * The complete body; `undefined` if it is larger than `maxBytes` or the client disconnected. Throws the
 * Refusal of a malformed body.
 */
export async function readBody(
  request: Body | undefined,
  maxBytes: number,
): Promise<Buffer | undefined> {
  if (request === undefined) return Buffer.alloc(0)
  return new Promise((resolve, reject) => {
    const cut = () => {
      if (request.failure === undefined) resolve(undefined)
      else reject(request.failure)
    }
    const chunks: Buffer[] = []
    let length = 0
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= maxBytes) chunks.push(chunk)
      else {
        request.pause()
        resolve(undefined)
      }
    })
    request.on('end', () => resolve(Buffer.concat(chunks)))
    request.on('error', cut)
    request.on('close', cut)
    if (request.destroyed || request.failure !== undefined) cut()
  })
}
