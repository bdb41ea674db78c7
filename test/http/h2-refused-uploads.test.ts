import { readFileSync } from 'node:fs'
import { type ClientHttp2Session, connect } from 'node:http2'
import { expect, onTestFinished, test } from 'vitest'
import { createCertificates } from '../support/certificates.ts'
import { startPostern } from '../support/start-postern.ts'

/** More than a client may send ahead on a stream, so that it never ends its request by itself. */
const body = Buffer.alloc(150_000)
/** Node counts what it has not sent of a stream, also after the stream is closed. */
const maxSessionMemory = 1000

/** Sends a part of a body without a token. Returns the response, after both sides are done. */
async function upload(client: ClientHttp2Session) {
  const stream = client.request({ ':method': 'POST', ':path': '/api/a' })
  let status: number | undefined
  let text = ''
  stream.on('response', (head) => {
    status = head[':status']
  })
  stream.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
  })
  // The write that the reset stops.
  stream.on('error', () => {})
  stream.write(body)
  await new Promise((resolve) => stream.on('close', resolve))
  return { status, code: text === '' ? undefined : JSON.parse(text).code }
}

async function expectRefusals(client: ClientHttp2Session): Promise<void> {
  onTestFinished(() => client.destroy())
  for (let round = 0; round < 20; round++) {
    const refusals = await Promise.all(Array.from({ length: 10 }, () => upload(client)))
    expect(refusals).toEqual(Array(10).fill({ status: 200, code: 401 }))
  }
}

test("Node's client gets the refusal of an upload that it has not finished, without TLS", async () => {
  const postern = await startPostern({ config: { application: { h2c: true } } })
  await expectRefusals(connect(`http://127.0.0.1:${postern.publicPort}`, { maxSessionMemory }))
})

test("Node's client gets the refusal of an upload that it has not finished, over TLS", async () => {
  const { authority, certificate, key, remove } = await createCertificates('gateway.test')
  onTestFinished(remove)
  const postern = await startPostern({
    config: { tls: { certFile: certificate, keyFile: key } },
  })
  const tls = { servername: 'gateway.test', ca: readFileSync(authority), maxSessionMemory }
  await expectRefusals(connect(`https://127.0.0.1:${postern.publicPort}`, tls))
})
