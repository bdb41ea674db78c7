import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Ran, type RunOptions, runCommand } from './run-command.ts'

/** A machine whose commands ask the console at an address. */
export interface RemotePostern {
  /** Where this machine keeps sessions. */
  readonly state: string
  run(words: readonly string[], options?: RunOptions): Promise<Ran>
  logIn(username: string, password: string): Promise<Ran>
}

export async function remotePostern(address: string): Promise<RemotePostern> {
  const state = await mkdtemp(join(tmpdir(), 'postern-state-'))
  onTestFinished(() => rm(state, { recursive: true, force: true }))
  const env = { POSTERN_GATEWAY: address, XDG_STATE_HOME: state }
  const run = (words: readonly string[], options: RunOptions = {}) =>
    runCommand(words, { ...options, env: { ...env, ...options.env } })
  return {
    state,
    run,
    logIn: (username, password) =>
      run(['gateway', 'login', '--user', username, '--password-stdin'], { stdin: `${password}\n` }),
  }
}
