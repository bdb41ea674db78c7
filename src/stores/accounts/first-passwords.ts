import { join, resolve } from 'node:path'
import { Invalid } from '../../kernel/errors.ts'
import { codeOf } from '../files/contained-file.ts'
import { replaceFile } from '../files/replace-file.ts'
import type { SeededAccount } from './seed.ts'

/** Where the passwords of the first accounts are kept until an operator has read them. */
export function firstPasswordsFile(directory: string): string {
  return join(resolve(directory), 'first-passwords.txt')
}

/**
 * Writes a file that only its owner can read. One that exists is of a database that is gone, because
 * this one has no accounts, so it is replaced: neither its mode nor a link in its place matters.
 */
export async function writeFirstPasswords(
  file: string,
  accounts: readonly SeededAccount[],
): Promise<void> {
  const lines = accounts.map(({ username, password }) => `${username} ${password}\n`)
  const head = '# The first accounts of Postern. Log in, change the passwords, delete this file.\n'
  try {
    await replaceFile(file, [head, ...lines])
  } catch (error) {
    const message = `cannot be written (${codeOf(error)}), so no account was created`
    throw new Invalid([{ file, message, fix: 'make its directory writable, then start again' }])
  }
}
