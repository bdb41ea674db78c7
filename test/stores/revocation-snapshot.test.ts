import { chown, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  confirmationLine,
  parseRevocationLines,
  revocationLine,
} from '../../src/stores/revocations/revocation-lines.ts'
import { createRevocationSnapshot } from '../../src/stores/revocations/revocation-snapshot.ts'
import { createRevocations, type Revocation } from '../../src/token/revocations.ts'
import { mountSmallDisk, smallDiskProblem } from '../support/full-disk.ts'
import { until } from '../support/until.ts'

const problem = smallDiskProblem()
if (problem !== undefined) console.log(`left out: revocations on a full disk: ${problem}`)

const isRoot = process.geteuid?.() === 0
if (!isRoot) console.log('left out: revocations written by root: this user is not root')

const until2100 = Date.parse('2100-01-01')
const tokenOf = (id: string): Revocation => {
  return { kind: 'token', id, userId: '42', issuedAt: 1_700_000_000_000, until: until2100 }
}
const userOf = (userId: string): Revocation => {
  return { kind: 'user', userId, before: 1_700_000_000_000, until: until2100 }
}

async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-revocations-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

/** A list, and the file that keeps it. */
function open(file: string, worker?: number) {
  const revocations = createRevocations(Date.now)
  const lines: string[] = []
  const log = {
    info: (_: object, text: string) => void lines.push(text),
    warn: (_: object, text: string) => void lines.push(text),
  }
  const snapshot = createRevocationSnapshot({ file, worker, revocations, log })
  function add(revocation: Revocation): void {
    revocations.add(revocation)
    snapshot.add(revocation)
  }
  return { revocations, snapshot, lines, add }
}

/** What a gateway finds that starts now. */
const found = (file: string) => open(file).snapshot.read()

async function namesIn(file: string): Promise<readonly string[]> {
  const { revocations = [] } = (await found(file)) ?? {}
  return revocations.map((one) => (one.kind === 'token' ? one.id : `user ${one.userId}`)).sort()
}

describe('the lines of a revocation file', () => {
  const content = [
    ...[revocationLine(tokenOf('one')), confirmationLine(1000)],
    ...[revocationLine(userOf('7')), confirmationLine(2000), revocationLine(tokenOf('two'))],
  ].join('')

  test('say what they were made of', () => {
    expect(parseRevocationLines(content)).toEqual({
      revocations: [tokenOf('one'), userOf('7'), tokenOf('two')],
      confirmedAt: 2000,
      damaged: 0,
    })
  })

  test('that are cut anywhere give what is above the cut, and an age that fits', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: content.length }), (length) => {
        const { revocations, confirmedAt, damaged } = parseRevocationLines(content.slice(0, length))
        const above = content.slice(0, content.slice(0, length).lastIndexOf('\n') + 1)

        expect(damaged).toBe(0)
        expect({ revocations, confirmedAt, damaged }).toEqual(parseRevocationLines(above))
        expect(confirmedAt).toBe(
          [undefined, undefined, 1000, 1000, 2000, 2000][above.split('\n').length - 1],
        )
      }),
    )
  })

  test('of which one is damaged lose that one, and every confirmation after it', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: content.length - 1 }),
        fc.integer({ min: 1, max: 255 }),
        (at, change) => {
          const bytes = Buffer.from(content)
          bytes.writeUInt8(bytes.readUInt8(at) ^ change, at)
          const parsed = parseRevocationLines(bytes.toString('latin1'))
          const lineNumber = content.slice(0, at).split('\n').length - 1

          expect(parsed.revocations.length).toBeGreaterThanOrEqual(2)
          expect(parsed.confirmedAt).toBe([undefined, undefined, 1000, 1000, 2000][lineNumber])
        },
      ),
    )
  })
})

describe('a revocation snapshot', () => {
  test('holds what was added and when it was confirmed, for its owner only', async () => {
    const file = join(await newDirectory(), 'below', 'revocations.snapshot')
    const { snapshot, add } = open(file)
    const before = Date.now()
    add(tokenOf('one'))
    add(userOf('7'))
    snapshot.confirm()
    await snapshot.close()

    expect(await namesIn(file)).toEqual(['one', 'user 7'])
    expect((await found(file))?.confirmedAt).toBeGreaterThanOrEqual(before)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect((await stat(dirname(file))).mode & 0o777).toBe(0o700)
    expect(snapshot.state()).toMatchObject({ current: true, failures: 0 })
  })

  test.skipIf(!isRoot)('that root writes belongs to the owner of its directory', async () => {
    const directory = await newDirectory()
    await chown(directory, 65_534, 65_534)
    const file = join(directory, 'revocations.snapshot')
    const { snapshot, add } = open(file)

    add(tokenOf('one'))
    await snapshot.close()

    expect(await stat(file)).toMatchObject({ uid: 65_534, gid: 65_534 })
  })

  test('is on the disk once it says so, and looks no younger for what is added', async () => {
    const file = join(await newDirectory(), 'revocations.snapshot')
    await writeFile(file, confirmationLine(1000))
    const { snapshot, add } = open(file)
    await snapshot.read()

    add(tokenOf('one'))
    await snapshot.written()

    expect(await found(file)).toEqual({ revocations: [tokenOf('one')], confirmedAt: 1000 })
    add(tokenOf('two'))
    await snapshot.written()
    expect(await namesIn(file)).toEqual(['one', 'two'])
    await snapshot.close()
  })

  test('is appended to, and not written anew, however many tokens are revoked', async () => {
    const file = join(await newDirectory(), 'revocations.snapshot')
    const { snapshot, add } = open(file)
    add(tokenOf('first'))
    await snapshot.written()
    const { ino } = await stat(file)

    for (let at = 0; at < 2000; at++) add(tokenOf(`token-${at}`))
    await snapshot.written()

    expect((await stat(file)).ino).toBe(ino)
    expect(await namesIn(file)).toHaveLength(2001)
    await snapshot.close()
  })

  test('is written anew when it has grown to many times the list', async () => {
    const file = join(await newDirectory(), 'revocations.snapshot')
    const { snapshot, add } = open(file)
    add(tokenOf('first'))
    await snapshot.written()
    const { ino } = await stat(file)

    // The same ones again and again: the list does not grow, the file does.
    for (let at = 0; at < 20_000; at++) add(tokenOf(`token-${at % 10}`))
    await snapshot.written()
    await until(async () => {
      add(tokenOf('last'))
      await snapshot.written()
      return (await stat(file)).ino !== ino
    })

    expect((await stat(file)).size).toBeLessThan(10_000)
    expect(await namesIn(file)).toHaveLength(12)
    await snapshot.close()
  })

  test.each([
    ['cut', (file: string) => truncate(file, 10)],
    ['deleted', (file: string) => rm(file)],
    ['replaced', (file: string) => writeFile(file, 'by another program\n')],
  ])('that is %s is written anew with all of it', async (_, spoil) => {
    const file = join(await newDirectory(), 'revocations.snapshot')
    const { snapshot, add } = open(file)
    add(tokenOf('one'))
    await snapshot.written()

    await spoil(file)
    add(tokenOf('two'))
    await snapshot.close()

    expect(await namesIn(file)).toEqual(['one', 'two'])
    expect(snapshot.state()).toMatchObject({ current: true, failures: 0 })
  })

  test('of each worker holds what only that one knows; a start reads them all', async () => {
    const file = join(await newDirectory(), 'revocations.snapshot')
    const [one, two] = [open(file, 1), open(file, 2)]

    await Promise.all(
      [one, two].map(async ({ add, snapshot }, at) => {
        for (let turn = 0; turn < 20; turn++) {
          add(tokenOf(`worker-${at}-${turn}`))
          await snapshot.written()
        }
      }),
    )

    expect(await namesIn(file)).toHaveLength(40)
    await Promise.all([one.snapshot.close(), two.snapshot.close()])
    expect(await readdir(join(file, '..'))).toEqual([
      'revocations.snapshot.1',
      'revocations.snapshot.2',
    ])
  })

  test('that two gateways share by mistake loses nothing of either', async () => {
    const file = join(await newDirectory(), 'revocations.snapshot')
    const [one, two] = [open(file), open(file)]

    for (const [at, { add, snapshot }] of [one, two, one, two].entries()) {
      add(tokenOf(`token-${at}`))
      await snapshot.written()
    }

    await until(async () => (await namesIn(file)).length === 4)
    expect([...one.lines, ...two.lines]).toContain('revocation snapshot changed by another process')
    await Promise.all([one.snapshot.close(), two.snapshot.close()])
    expect(await namesIn(file)).toHaveLength(4)
  })

  test('that is nothing but millions of line ends does not hold up a start', async () => {
    const file = join(await newDirectory(), 'revocations.snapshot')
    await writeFile(file, Buffer.alloc(4_000_000, '\n'))
    const { snapshot, lines } = open(file)

    expect(await snapshot.read()).toEqual({ revocations: [], confirmedAt: undefined })
    expect(lines).toEqual(['revocation snapshot damaged'])
  })

  test('that is damaged gives the rest, says so, and counts as older', async () => {
    const file = join(await newDirectory(), 'revocations.snapshot')
    const { snapshot, add } = open(file)
    add(tokenOf('one'))
    add(tokenOf('two'))
    snapshot.confirm()
    await snapshot.close()
    await writeFile(file, (await readFile(file, 'utf8')).replace('t:one', 't:eno'))
    const again = open(file)

    expect(await again.snapshot.read()).toEqual({
      revocations: [tokenOf('two')],
      confirmedAt: undefined,
    })
    expect(again.lines).toEqual(['revocation snapshot damaged'])
  })

  test.skipIf(problem !== undefined)(
    'on a full disk says so, and is whole once there is space',
    async () => {
      const disk = mountSmallDisk(64)
      const file = join(disk.directory, 'revocations.snapshot')
      const { snapshot, add, lines } = open(file)
      add(tokenOf('one'))
      snapshot.confirm()
      await snapshot.written()
      const before = await found(file)

      await disk.fill()
      for (let at = 0; at < 100; at++) add(tokenOf(`token-${at}`))
      await snapshot.written()

      await until(() => snapshot.state().failures > 0)
      expect(snapshot.state()).toMatchObject({ current: false })
      snapshot.confirm()
      expect((await found(file))?.confirmedAt).toBe(before?.confirmedAt)
      expect(lines).toEqual(['revocation snapshot not written'])
      await disk.free()
      await until(() => snapshot.state().current === true)
      expect(await namesIn(file)).toHaveLength(101)
      await snapshot.close()
    },
  )
})
