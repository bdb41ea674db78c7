import {
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { Invalid } from '../../src/errors.ts'
import { readKeyFiles } from '../../src/stores/key-files.ts'
import { createWatchedDirectory } from '../../src/stores/watched-directory.ts'

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

describe.concurrent('a directory that nobody changes', () => {
  const made: string[] = []
  afterAll(() => {
    for (const each of made) rmSync(each, { recursive: true, force: true })
  })

  /** One of its own, since these tests mostly wait, and do so together. */
  async function knownAlone(longestUnreadMs?: number) {
    const directory = mkdtempSync(join(tmpdir(), 'postern-watched-'))
    made.push(directory)
    const file = join(directory, 'one.pem')
    writeFileSync(file, 'one')
    let readings = 0
    const watched = createWatchedDirectory({
      directory,
      part: 'policies',
      readFiles(from) {
        readings++
        return readKeyFiles(from)
      },
      ...(longestUnreadMs !== undefined && { longestUnreadMs }),
    })
    const first = await watched.read(undefined)
    let known = first?.checksum
    /** How often the files are read for one look, and what of them is new. */
    const look = async () => {
      const before = readings
      const found = await watched.read(known)
      known = found?.checksum ?? known
      return { readings: readings - before, texts: found?.files.map(({ text }) => text) }
    }
    return { look, file }
  }
  /** Long enough after it was written that a change would show. */
  const settled = () => pause(2100)
  const unread = { readings: 0, texts: undefined }
  const readOnce = { readings: 1, texts: undefined }

  test('is read again and again, unless it may go unread', async () => {
    const { look } = await knownAlone()
    await settled()

    expect(await look()).toEqual(readOnce)
    expect(await look()).toEqual(readOnce)
  })

  test('goes unread as long as it may, while it looks as it did', async () => {
    const { look } = await knownAlone(500)
    await settled()

    expect(await look()).toEqual(readOnce)
    expect(await look()).toEqual(unread)
    expect(await look()).toEqual(unread)
    await pause(600)
    expect(await look()).toEqual(readOnce)
  })

  test('is read as long as it was written a moment ago: the next change might not show', async () => {
    const { look } = await knownAlone(60_000)

    expect(await look()).toEqual(readOnce)
    expect(await look()).toEqual(readOnce)
  })

  test.each<[string, (file: string) => void]>([
    ['another text', (file) => writeFileSync(file, 'another')],
    [
      'a text as long, with the time of the one before',
      (file) => {
        const { atime, mtime } = statSync(file)
        writeFileSync(file, 'two')
        utimesSync(file, atime, mtime)
      },
    ],
    ['a file more', (file) => writeFileSync(file.replace('one', 'two'), 'two')],
  ])('is read at the next look once there is %s', async (_, change) => {
    const { look, file } = await knownAlone(60_000)
    await settled()
    await look()
    expect(await look()).toEqual(unread)

    change(file)

    expect((await look()).texts).toBeDefined()
  })

  test('that was changed and changed back is read, and known', async () => {
    const { look, file } = await knownAlone(60_000)
    await settled()
    await look()
    writeFileSync(file, 'two')
    writeFileSync(file, 'one')

    expect(await look()).toEqual(readOnce)
  })
})
