import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { createIo } from '../../src/cli/process-io.ts'

/** What a process with this environment writes to stderr and stdout. */
function written(env: Readonly<Record<string, string>>, text: string) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const host = { stdin, stdout, stderr, env, cwd: () => '/' } as unknown as NodeJS.Process
  const io = createIo(host)
  io.err(text)
  io.out(text)
  return { err: String(stderr.read()), out: String(stdout.read()) }
}

const commands = '::error::x\n  ::stop-commands::y\na ::b:: ##[add-mask]e ###[x]\n'

test('a message is no command of GitHub Actions', () => {
  const { err, out } = written({ GITHUB_ACTIONS: 'true' }, commands)

  expect(err).toBe('· ::error::x\n·   ::stop-commands::y\na ::b:: # #[add-mask]e ## #[x]\n')
  expect(out).toBe(commands)
})

test('elsewhere it stays as it is', () => {
  expect(written({}, commands).err).toBe(commands)
})
