import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  type FileServer,
  fileServers,
  missing,
  startFileServer,
} from '../support/file-servers/start.ts'
import { inParallel } from '../support/in-parallel.ts'
import { startPostern } from '../support/start-postern.ts'

const names = ['100%.txt', 'C# notes.md', 'why?.md', 'My%20File.pdf', '#channel', '50%ab']

/** Files with odd names in `root/files`; `secret.txt` beside it, and in `root/files/private`. */
async function layOut() {
  const scratch = await mkdtemp(join(tmpdir(), 'postern-files-'))
  onTestFinished(() => rm(scratch, { recursive: true, force: true }))
  const files = join(scratch, 'root', 'files')
  await mkdir(join(files, 'private'), { recursive: true })
  for (const name of names) await writeFile(join(files, name), `this is ${name}`)
  await writeFile(join(scratch, 'root', 'secret.txt'), 'SECRET')
  await writeFile(join(files, 'private', 'secret.txt'), 'SECRET')
  return { root: join(scratch, 'root'), scratch }
}

async function startWith(server: FileServer) {
  const { root, scratch } = await layOut()
  const port = await startFileServer(server, root, scratch)
  const allow = { encodedPercent: true, encodedHash: true, encodedQuestionMark: true }
  const postern = await startPostern({
    rules: [],
    config: { upstreams: { files: { targets: [`http://127.0.0.1:${port}`] } } },
    routes: [
      { path: '/files', upstream: 'files', access: 'public', reason: 'downloads', allow },
      { path: '/files/private', upstream: 'files' },
      { path: '/secret.txt', upstream: 'files' },
    ],
  })
  return postern
}

/** Every way to write the text with single, double and triple escapes, in both cases. */
function spellings(text: string): string[] {
  const hex = (level: number, upper: boolean) =>
    [...text]
      .map((character) => character.charCodeAt(0).toString(16))
      .map((digits) => `%${'25'.repeat(level)}${upper ? digits.toUpperCase() : digits}`)
      .join('')
  return [text, ...[0, 1, 2].flatMap((level) => [hex(level, false), hex(level, true)])]
}

function attacks(): string[] {
  const dots = spellings('..')
  const slashes = [...spellings('/'), ...spellings('\\')]
  const ends = ['', '%3F', '%3Fx', '%23', '%23/x', '%253F', '%2500', '%25']
  const out = dots.flatMap((up) =>
    slashes.flatMap((slash) =>
      ends.flatMap((end) => [
        `/files/${up}${slash}secret.txt${end}`,
        `/files/a${slash}${up}${slash}${up}${slash}secret.txt${end}`,
      ]),
    ),
  )
  const letters = spellings('p')
  const below = letters.flatMap((letter) =>
    slashes.flatMap((slash) => ends.map((end) => `/files/${letter}rivate${slash}secret.txt${end}`)),
  )
  const passed = ['/files/..%25/secret.txt', '/files/private%25/secret.txt', '/files/x%23/private']
  return [...out, ...below, ...passed, ...ends.map((end) => `/secret.txt${end}`)].filter(
    (target) => !target.includes('\\'),
  )
}

for (const server of fileServers) {
  const why = missing(server)
  if (why !== undefined) console.log(`left out: encoded characters with ${server}: ${why}`)

  describe.skipIf(why !== undefined)(`before a file server in ${server}`, () => {
    test('files with odd names are reached by their one spelling', {
      timeout: 300_000,
    }, async () => {
      const postern = await startWith(server)

      for (const name of names.slice(0, 5)) {
        const answer = await postern.call(`GET /files/${encodeURIComponent(name)}`)
        expect([name, answer.status, answer.body]).toEqual([name, 200, `this is ${name}`])
      }
      // A second round of decoding would not read this as UTF-8.
      expect((await postern.call('GET /files/50%25ab')).status).toBe(400)
    })

    const targets = attacks()
    test(`no spelling of ${targets.length} leaves the route`, { timeout: 300_000 }, async () => {
      const postern = await startWith(server)
      const leaked: string[] = []
      let served = 0

      await inParallel(targets, async (target) => {
        const { status, body } = await postern.call(`GET ${target}`)
        if (status === 200 && body.includes('SECRET')) leaked.push(target)
        if (status === 404) served++
      })

      expect(leaked).toEqual([])
      expect(served).toBeGreaterThan(0) // some do reach the server, and are names of no file
    })
  })
}
