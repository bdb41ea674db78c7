import { mkdtempSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { Invalid } from '../../src/kernel/errors.ts'
import { createWatchedDirectory } from '../../src/stores/feed/watched-directory.ts'
import { readKeyFiles } from '../../src/stores/keys/key-files.ts'

let directory: string
let afterFirstReading: () => void

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'postern-watched-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  writeFileSync(join(directory, 'one.pem'), 'one')
  afterFirstReading = () => {}
})

/** A directory of which one state is known; changed where the test says so, in mid-reading. */
async function knownDirectory() {
  let readings = 0
  const watched = createWatchedDirectory({
    directory,
    part: 'keys',
    readFiles: (from) =>
      readKeyFiles(from).finally(() => {
        // Sooner than files count as settled, and later than a second look straight away.
        if (++readings === 2) setTimeout(afterFirstReading, 20)
      }),
  })
  const known = await watched.read(undefined)
  return { read: () => watched.read(known?.checksum) }
}

describe('a directory that somebody changes', () => {
  test('is read when the links to files that are gone have gone as well', async () => {
    const { read } = await knownDirectory()
    symlinkSync('gone', join(directory, 'two.pem'))
    writeFileSync(join(directory, 'three.pem'), 'three')
    afterFirstReading = () => unlinkSync(join(directory, 'two.pem'))

    const reading = await read()

    expect(reading?.files.map(({ text }) => text)).toEqual(['one', 'three'])
  })

  test('is refused when such a link stays', async () => {
    const { read } = await knownDirectory()
    symlinkSync('gone', join(directory, 'two.pem'))

    await expect(read()).rejects.toThrow(Invalid)
  })

  test('is read whole when a file comes late', async () => {
    const { read } = await knownDirectory()
    writeFileSync(join(directory, 'two.pem'), 't')
    afterFirstReading = () => writeFileSync(join(directory, 'two.pem'), 'two')

    const reading = await read()

    expect(reading?.files.map(({ text }) => text)).toEqual(['one', 'two'])
  })

  test('is not read again when it is as known', async () => {
    const { read } = await knownDirectory()

    await expect(read()).resolves.toBeUndefined()
  })
})
