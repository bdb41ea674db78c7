import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { onTestFinished } from 'vitest'
import { createLog } from '../../src/log/log.ts'
import { openLoginModule } from '../../src/login/methods/module/login-module.ts'

/** Writes a module to a file of its own, which goes with the test. */
export function moduleFile(source: string, name = 'sms.mjs'): string {
  const directory = mkdtempSync(join(tmpdir(), 'postern-module-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const file = join(directory, name)
  writeFileSync(file, source)
  return file
}

/** Loads a module, and collects what it makes the gateway log. */
export async function openModule(source: string, { timeoutMs = 60_000 } = {}) {
  const lines: string[] = []
  const sink = new Writable({
    write(chunk, _, done) {
      lines.push(String(chunk))
      done()
    },
  })
  const accounts: Readonly<Record<string, { roleKey: string; enabled: boolean }>> = {
    ann: { roleKey: 'editor', enabled: true },
  }
  const asked: string[] = []
  const module = await openLoginModule({
    file: moduleFile(source),
    timeoutMs,
    log: createLog('info', sink),
    async findAccount(username) {
      asked.push(username)
      if (username === 'broken') throw new Error('the password of the database is hunter22')
      const found = accounts[username]
      return found && { userId: '7', username, ...found }
    },
  })
  onTestFinished(module.close)
  return {
    ...module,
    asked,
    logText: () => lines.join(''),
    ask: (request: Readonly<Record<string, string>>) =>
      module.verify({ request, remoteAddress: '192.0.2.7' }),
  }
}
