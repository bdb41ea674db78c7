import { chmod, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import {
  firstPasswordsFile,
  writeFirstPasswords,
} from '../../src/stores/accounts/first-passwords.ts'

const accounts = [
  { username: 'admin', roleKey: 'admin', password: 'first-one' },
  { username: 'editor', roleKey: 'editor', password: 'first-two' },
]

async function directory(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'postern-first-'))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  return root
}

test('the first passwords are in a file that only its owner can read', async () => {
  const file = firstPasswordsFile(await directory())

  await writeFirstPasswords(file, accounts)

  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await readFile(file, 'utf8')).toMatch(/^#.*\nadmin first-one\neditor first-two\n$/)
})

test('they replace a file that others can read, and do not keep its mode', async () => {
  const file = firstPasswordsFile(await directory())
  await writeFile(file, 'admin of-an-older-database\n')
  await chmod(file, 0o644)

  await writeFirstPasswords(file, accounts)

  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await readFile(file, 'utf8')).not.toContain('older')
})

test('they replace a link, and leave alone what it points to', async () => {
  const root = await directory()
  const file = firstPasswordsFile(root)
  const other = join(root, 'other')
  await writeFile(other, 'of somebody else')
  await symlink(other, file)

  await writeFirstPasswords(file, accounts)

  expect(await readFile(other, 'utf8')).toBe('of somebody else')
  expect(await readFile(file, 'utf8')).toContain('admin first-one')
})

test('a directory that cannot be written is named with what to do, without a password', async () => {
  const root = await directory()
  await writeFile(join(root, 'data'), 'a file where the directory should be')
  const file = firstPasswordsFile(join(root, 'data'))

  const error = await writeFirstPasswords(file, accounts).catch(String)

  expect(error).toContain(`${file}: cannot be written (EEXIST), so no account was created`)
  expect(error).not.toContain('first-one')
})
