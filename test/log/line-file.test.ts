import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type LineFile, openLineFile } from '../../src/log/line-file.ts'
import { until } from '../support/until.ts'

async function openTemporary(path?: string) {
  const directory = await mkdtemp(join(tmpdir(), 'postern-lines-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const troubles: string[] = []
  const name = path ?? join(directory, 'lines')
  const lines: LineFile = await openLineFile(name, {
    setting: 'some.setting',
    onTrouble: (reason) => troubles.push(reason),
  })
  return { name, lines, troubles }
}

test('a file has every line, whole and in order, when it is closed', async () => {
  const { name, lines } = await openTemporary()
  const all = Array.from({ length: 5000 }, (_, at) => `line ${at} ${'ä'.repeat(20)}\n`)

  for (const line of all) lines.write(line)
  await lines.close()

  expect(await readFile(name, 'utf8')).toBe(all.join(''))
  expect(lines.dropped()).toBe(0)
})

test('a file lets lines go, counted, when they come faster than the disk takes them', async () => {
  const { name, lines } = await openTemporary()
  const line = `${'x'.repeat(1023)}\n`

  for (let at = 0; at < 10_000; at++) lines.write(line)
  await lines.close()

  const kept = (await readFile(name, 'utf8')).length / line.length
  expect(lines.dropped()).toBeGreaterThan(0)
  expect(kept + lines.dropped()).toBe(10_000)
})

test('a full disk costs lines, counted, and is told of once', async () => {
  const { lines, troubles } = await openTemporary('/dev/full')

  lines.write('one\n')
  await until(() => lines.dropped() === 1)
  lines.write('two\n')
  await until(() => lines.dropped() === 2)
  await lines.close()

  expect(troubles).toEqual([expect.stringContaining('ENOSPC')])
})

test('lines of two that write to one file do not end up within each other', async () => {
  const { name, lines: one } = await openTemporary()
  const { lines: other } = await openTemporary(name)

  const all = [one, other].flatMap((file, of) =>
    Array.from({ length: 3000 }, (_, at) => {
      const line = JSON.stringify({ of, at, text: 'x'.repeat(1000) })
      file.write(`${line}\n`)
      return line
    }),
  )
  await Promise.all([one.close(), other.close()])

  const written = (await readFile(name, 'utf8')).trimEnd().split('\n')
  expect(new Set(written)).toEqual(new Set(all))
})
