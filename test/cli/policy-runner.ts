import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Ran, type RunOptions, runCommand } from '../support/run-command.ts'

/** Runs `postern policy …` in this process. */
export function policy(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  return runCommand(['policy', ...args], options)
}

/** A directory with these files, gone when the test ends. */
export async function folder(files: Readonly<Record<string, string>> = {}): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-policy-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true })
    await writeFile(join(directory, name), text)
  }
  return directory
}
