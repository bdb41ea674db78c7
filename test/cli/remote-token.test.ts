import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { apiPath, startStranger } from '../support/console-stranger.ts'

const token = 'aaa.bbb-_.ccc'

describe('a token of a service account', () => {
  test.each([
    ['POSTERN_GATEWAY_TOKEN', async () => token],
    ['POSTERN_GATEWAY_TOKEN_FILE', async () => written(`${token}\n`)],
  ])('%s: is sent in place of the session', async (name, value) => {
    const { run, seen } = await startStranger((_, response) => {
      response.writeHead(200, { 'content-type': 'application/vnd.postern.answered+json' })
      response.end('{"told":"","answer":{"document":{"name":"ann"}}}')
    })

    const ran = await run(['config', 'print'], { env: { [name]: await value() } })

    expect(ran).toMatchObject({ code: 0, out: 'name: ann\n' })
    const { url, headers } = seen.at(-1) ?? { headers: {} }
    expect(url).toContain(`${apiPath}config/print`)
    expect([headers.authorization, headers.cookie]).toEqual([`Bearer ${token}`, undefined])
  })

  test.each([
    [401, 'token-expired', 'the token has expired', 'the token has expired'],
    [403, 'not-permitted', 'not in console.services', 'not in console.services'],
    [401, 'token-missing', 'please log in again', 'its console.services is empty'],
  ])('%s %s: says why it is refused, and asks no one', async (status, kind, message, said) => {
    const { run, address } = await startStranger((_, response) => {
      response.writeHead(status, { 'content-type': 'application/problem+json' })
      response.end(JSON.stringify({ errors: [{ message, kind }] }))
    })

    const { code, out, err } = await run(['user', 'list'], {
      env: { POSTERN_GATEWAY_TOKEN: token },
    })

    expect([code, out]).toEqual([5, ''])
    expect(err).toBe(`postern: ${address} refused POSTERN_GATEWAY_TOKEN: ${said}\n`)
  })

  test('is not sent with what cannot be a token, or in two ways', async () => {
    const { run, seen } = await startStranger(() => {})
    const before = seen.length
    const file = await written('two words')
    const wrong: readonly Readonly<Record<string, string>>[] = [
      { POSTERN_GATEWAY_TOKEN: 'secret-1\r\nX: 1' },
      { POSTERN_GATEWAY_TOKEN_FILE: file },
      { POSTERN_GATEWAY_TOKEN: token, POSTERN_GATEWAY_TOKEN_FILE: file },
    ]
    for (const env of wrong) {
      const { code, err } = await run(['user', 'list'], { env })
      expect([code, err.split('\n').length]).toEqual([2, 2])
      expect(err).toMatch(/POSTERN_GATEWAY_TOKEN|is not a token/)
      expect(err).not.toMatch(/secret-1|aaa|two words/)
    }
    const absent = await run(['user', 'list'], { env: { POSTERN_GATEWAY_TOKEN_FILE: `${file}x` } })
    expect([absent.code, absent.err]).toEqual([3, `${file}x: cannot be read (ENOENT)\n`])
    expect(seen).toHaveLength(before)
  })
})

async function written(text: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-token-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const file = join(directory, 'token')
  await writeFile(file, text)
  return file
}
