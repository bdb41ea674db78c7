import { execFile } from 'node:child_process'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Stream, StreamEvents } from '../../src/h2/stream.ts'
import { createCertificates } from '../support/certificates.ts'
import { startLoneGateway } from '../support/lone-gateway.ts'
import { findH2spec } from '../support/services/find-h2spec.ts'
import { startSessionServer } from '../support/session-server.ts'

let program: string | undefined
try {
  program = findH2spec()
} catch (error) {
  console.warn(`left out: the tests with h2spec; ${(error as Error).message}`)
}

/** Runs all its cases, the strict ones as well. Returns those that failed. */
async function h2spec(port: number, ...options: readonly string[]): Promise<string[]> {
  const args = ['--port', `${port}`, '--strict', '--timeout', '20', ...options]
  const output = await new Promise<string>((resolve) => {
    execFile(program ?? '', args, { maxBuffer: 10_000_000 }, (_, stdout) => resolve(stdout))
  })
  const [, tests, passed, , failed] =
    /(\d+) tests, (\d+) passed, (\d+) skipped, (\d+) failed/.exec(output)?.map(Number) ?? []
  expect(tests, output.slice(-2000)).toBeGreaterThanOrEqual(146)
  const [, failures = ''] = output.split('Failures:')
  const names = [...failures.matchAll(/× \d+: (.*)/g)].map(([, name]) => name ?? '')
  expect([passed, failed]).toEqual([(tests ?? 0) - names.length, names.length])
  return names
}

/** Answers with more than the window of any test, when the request has ended. */
function answer(stream: Stream): StreamEvents {
  return {
    head() {},
    data: (chunk) => stream.consumed(chunk.length),
    end() {
      stream.sendHeaders([':status', '200'], false)
      stream.write(Buffer.from('more than the window of any test'))
      stream.end()
    },
    drain() {},
    closed() {},
  }
}

const open = { path: '/', upstream: 'backend', access: 'public', reason: 'a test' }

describe.skipIf(program === undefined)('h2spec, strict', () => {
  test('passes in full against a bare session', async () => {
    expect(await h2spec(await startSessionServer(answer))).toEqual([])
  })

  test('passes against a gateway without TLS, which also speaks HTTP/1.1', async () => {
    const { gateway } = await startLoneGateway({
      application: { host: '127.0.0.1', port: 0, h2c: true },
      routes: [open],
    })
    // What does not begin with the preface is HTTP/1.1, and is answered as such before the connection closes.
    const failed = await h2spec(gateway.publicPort)
    expect(failed.filter((name) => name !== 'Sends invalid connection preface')).toEqual([])
  })

  test('passes in full against a gateway with TLS', async () => {
    const { certificate, key, remove } = await createCertificates()
    onTestFinished(remove)
    const { gateway } = await startLoneGateway({
      tls: { certFile: certificate, keyFile: key },
      routes: [open],
    })
    expect(await h2spec(gateway.publicPort, '--tls', '--insecure')).toEqual([])
  })
})
