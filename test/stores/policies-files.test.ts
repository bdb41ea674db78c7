import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { readPolicyFiles } from '../../src/stores/policies/policy-files.ts'
import { policyFiles } from '../support/policy-files.ts'
import { ask, readyz } from '../support/published-policies.ts'
import { startPostern } from '../support/start-postern.ts'
import { until } from '../support/until.ts'

const first = ['clerk, /first, GET']
const second = ['clerk, /second, GET']

async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-policies-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

async function write(directory: string, rules: readonly string[]): Promise<void> {
  await mkdir(directory, { recursive: true })
  for (const { name, text } of policyFiles(rules)) await writeFile(join(directory, name), text)
}

const startOn = (directory: string) =>
  startPostern({ config: { policy: { directory, pollSeconds: 1 } } })

describe('a policy directory', () => {
  test('is taken in anew when a file of it is changed', async () => {
    const directory = await newDirectory()
    await write(directory, first)
    const postern = await startOn(directory)

    await write(directory, second)

    await until(async () => (await ask(postern, '/second')) === 'allowed')
    expect(await ask(postern, '/first')).toBe('denied')
  })

  test('keeps its last good state through a bad edit, and says what is wrong with it', async () => {
    const directory = await newDirectory()
    await write(directory, first)
    const postern = await startOn(directory)

    await writeFile(join(directory, 'policy.csv'), 'p, clerk, /second, GET\np, clerk, /third\n')

    await until(async () => (await readyz(postern.opsPort)).policy.stale)
    expect(await ask(postern, '/first')).toBe('allowed')
    expect(await ask(postern, '/second')).toBe('denied')
    const { status, policy } = await readyz(postern.opsPort)
    expect([status, policy.lastError]).toEqual([200, expect.stringContaining('policy.csv:2')])
    expect(postern.logText()).toContain('policy.csv:2')

    await write(directory, second)
    await until(async () => (await ask(postern, '/second')) === 'allowed')
    expect((await readyz(postern.opsPort)).policy.lastError).toBe(undefined)
  })

  test('keeps its last good state when it is emptied or gone', async () => {
    const directory = await newDirectory()
    await write(directory, first)
    const postern = await startOn(directory)

    await rm(directory, { recursive: true })
    await until(async () => (await readyz(postern.opsPort)).policy.stale)
    expect(await ask(postern, '/first')).toBe('allowed')

    await write(directory, second)
    await until(async () => (await ask(postern, '/second')) === 'allowed')
  })

  test('follows the link that Kubernetes replaces inside it, time after time', async () => {
    const directory = await newDirectory()
    await swapData(directory, 1, first)
    for (const { name } of policyFiles(first)) {
      await symlink(join('..data', name), join(directory, name))
    }
    const postern = await startOn(directory)
    expect(await ask(postern, '/first')).toBe('allowed')

    await swapData(directory, 2, second)
    await until(async () => (await ask(postern, '/second')) === 'allowed')
    await swapData(directory, 3, first)
    await until(async () => (await ask(postern, '/first')) === 'allowed')
    await swapData(directory, 4, second)
    await until(async () => (await ask(postern, '/second')) === 'allowed')
  })

  test('may itself be a link that is replaced', async () => {
    const parent = await newDirectory()
    const link = join(parent, 'current')
    await write(join(parent, 'one'), first)
    await write(join(parent, 'two'), second)
    await symlink('one', link)
    const postern = await startOn(link)

    await symlink('two', join(parent, 'next'))
    await rename(join(parent, 'next'), link)
    await until(async () => (await ask(postern, '/second')) === 'allowed')

    await write(join(parent, 'two'), first)
    await until(async () => (await ask(postern, '/first')) === 'allowed')
  })

  test('is not taken in while somebody is still writing it', async () => {
    const directory = await newDirectory()
    await write(directory, ['clerk, /first, GET', 'clerk, /second, GET'])
    const postern = await startOn(directory)
    const file = join(directory, 'policy.csv')
    const text = await readFile(file, 'utf8')

    for (let save = 0; save < 20; save++) {
      // As an editor does it: emptied, then written in two steps.
      await writeFile(file, text.split('\n')[0] ?? '')
      await new Promise((resolve) => setTimeout(resolve, 5))
      await writeFile(file, text)
      expect(await ask(postern, '/second')).toBe('allowed')
    }
    expect((await readyz(postern.opsPort)).policy.reloads.ok).toBe(1)
  })

  test.each(['deny.cvs', 'policy.csv.orig', 'Model.conf', 'exclusions.yml'])(
    'is refused with a file %s in it, which would else not count in silence',
    async (name) => {
      const directory = await newDirectory()
      await write(directory, first)
      await writeFile(join(directory, name), 'p, clerk, /first, GET, deny\n')

      await expect(startOn(directory)).rejects.toMatchObject({
        name: 'Invalid',
        problems: [{ file: join(directory, name) }],
      })
    },
  )

  test('may hold tests, notes and hidden files besides', async () => {
    const directory = await newDirectory()
    await write(directory, first)
    await mkdir(join(directory, 'tests'))
    for (const name of [
      'README',
      'README.txt',
      '.policy.csv.swp',
      'notes.md',
      'tests/a_test.yaml',
    ]) {
      await writeFile(join(directory, name), 'not a policy')
    }

    const names = (await readPolicyFiles(directory)).map(({ name }) => basename(name))
    const postern = await startOn(directory)

    expect(names).toEqual(['model.conf', 'notes.md', 'policy.csv'])
    expect(await ask(postern, '/first')).toBe('allowed')
  })

  test('is refused with a link that leaves it, and the file is never shown', async () => {
    const directory = await newDirectory()
    await write(directory, first)
    const postern = await startOn(directory)
    const secret = join(await newDirectory(), 'secret')
    await writeFile(secret, 'root:hunter2\n')

    await symlink(secret, join(directory, 'more.csv'))

    await until(async () => (await readyz(postern.opsPort)).policy.stale)
    expect(await ask(postern, '/first')).toBe('allowed')
    const { policy } = await readyz(postern.opsPort)
    expect(policy.lastError).toContain('more.csv: is a link that leaves the policy directory')
    expect(postern.logText()).not.toContain('hunter2')
    await expect(startOn(directory)).rejects.toMatchObject({ name: 'Invalid' })
  })

  test('that does not exist is said in one line at the start', async () => {
    await expect(startOn('/nowhere/policies')).rejects.toMatchObject({ name: 'Invalid' })
  })
})

/** What the kubelet does when a ConfigMap has changed. */
async function swapData(directory: string, time: number, rules: readonly string[]): Promise<void> {
  const data = `..2026_${time}`
  await write(join(directory, data), rules)
  await symlink(data, join(directory, '..data_tmp'))
  await rename(join(directory, '..data_tmp'), join(directory, '..data'))
  await rm(join(directory, `..2026_${time - 1}`), { recursive: true, force: true })
}
