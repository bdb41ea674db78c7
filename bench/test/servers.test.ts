import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../test/support/redis-server.ts'
import { until } from '../../test/support/until.ts'
import { type Command, startServer } from '../run/background.ts'

/** Listens, and has a child that listens too, as nginx's master has its workers. */
const program = `
  import { spawn } from 'node:child_process'
  import { createServer } from 'node:http'
  const [, , port, childPort] = process.argv
  const listen = (at) => createServer((_, reply) => reply.end('here')).listen(at, '127.0.0.1')
  if (childPort === undefined) listen(port)
  else {
    spawn(process.execPath, [process.argv[1], childPort], { stdio: 'inherit' })
    const isUp = () => fetch('http://127.0.0.1:' + childPort).then(() => true, () => false)
    while (!(await isUp())) await new Promise((done) => setTimeout(done, 20))
    listen(port)
  }
`

async function commandOf() {
  const directory = await mkdtemp(join(tmpdir(), 'postern-bench-test-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const file = join(directory, 'server.mjs')
  await writeFile(file, program)
  const [port, childPort] = [await freePort(), await freePort()]
  const args = [file, String(port), String(childPort)]
  const command: Command = {
    program: process.execPath,
    args,
    port,
    output: join(directory, 'output'),
  }
  return { command, childPort, directory }
}

const answers = (port: number) =>
  fetch(`http://127.0.0.1:${port}/`, { headers: { Connection: 'close' } }).then(
    () => true,
    () => false,
  )

describe('a server of a run', () => {
  test('takes its children with it when it is stopped after it was killed', async () => {
    const { command, childPort } = await commandOf()
    const server = await startServer(command)
    expect(server.hasEnded()).toBe(false)

    process.kill(server.pid, 'SIGKILL')
    await until(() => server.hasEnded())
    expect(await answers(childPort)).toBe(true)
    await server.stop()

    await until(async () => !(await answers(childPort)))
  })

  test('does not outlive a run that ends by itself or fails', async () => {
    const { command, childPort, directory } = await commandOf()
    const run = join(directory, 'run.mjs')
    const background = join(import.meta.dirname, '../run/background.ts')
    await writeFile(
      run,
      `import { writeFileSync } from 'node:fs'
       import { startServer } from ${JSON.stringify(background)}
       await startServer(${JSON.stringify(command)})
       const answer = await fetch('http://127.0.0.1:${childPort}/')
       writeFileSync(${JSON.stringify(join(directory, 'seen'))}, await answer.text())
       throw new Error('something else')`,
    )

    expect(() => execFileSync(process.execPath, [run], { stdio: 'ignore' })).toThrow()

    expect(await readFile(join(directory, 'seen'), 'utf8')).toBe('here')
    await until(async () => !(await answers(command.port)) && !(await answers(childPort)))
  })

  test('that does not start is told of with what it said', async () => {
    const { command } = await commandOf()
    const args = ['-e', 'console.log("no such thing"); process.exit(1)']

    await expect(startServer({ ...command, args })).rejects.toThrow('no such thing')
  })
})
