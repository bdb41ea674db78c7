import { spawn } from 'node:child_process'
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createLogDestination } from '../../src/log/log-destination.ts'

function temporaryFile(): { path: string; fd: number } {
  const directory = mkdtempSync(join(tmpdir(), 'postern-log-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const path = join(directory, 'log')
  return { path, fd: openSync(path, 'w') }
}

const lines = (count: number) =>
  Array.from({ length: count }, (_, at) => `line ${at} ${'ä'.repeat(50)}\n`)

/** A process that runs this with a log destination on its stdout, a pipe to the given reader. */
function writer(body: string, reader: string) {
  const program = `
    import { createLogDestination } from ${JSON.stringify(resolve('src/log/log-destination.ts'))}
    const destination = createLogDestination(1)
    process.on('exit', destination.flushSync)
    ${body}
  `
  const child = spawn(
    'sh',
    ['-c', `"$NODE" --input-type=module-typescript --eval "$PROGRAM" | ${reader}`],
    {
      env: { ...process.env, NODE: process.execPath, PROGRAM: program },
      stdio: ['pipe', 'ignore', 'pipe'],
    },
  )
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

async function said(child: ReturnType<typeof writer>): Promise<string> {
  let text = ''
  for await (const chunk of child.stderr) text += chunk
  return text
}

describe('the log destination', () => {
  test('writes every line, whole and in order', async () => {
    const { path, fd } = temporaryFile()
    const destination = createLogDestination(fd)

    for (const line of lines(5000)) destination.write(line)
    while (readFileSync(path, 'utf8').length < lines(5000).join('').length) await pause(10)

    expect(readFileSync(path, 'utf8')).toBe(lines(5000).join(''))
    expect(destination.dropped()).toBe(0)
  })

  test('writes what is waiting when the process ends', async () => {
    const { path, fd } = temporaryFile()
    const destination = createLogDestination(fd)

    for (const line of lines(500)) destination.write(line)
    destination.flushSync()

    expect(readFileSync(path, 'utf8')).toBe(lines(500).join(''))
  })

  test('lets lines go, counted, when nobody reads, and still ends', async () => {
    const child = writer(
      `const line = 'x'.repeat(1023) + '\\n'
       for (let at = 0; at < 20_000; at++) destination.write(line)
       setTimeout(() => {
         console.error(destination.dropped() > 10_000 ? 'dropped' : 'kept')
         process.exit()
       }, 100)`,
      'sleep 5 2>&-',
    )

    expect(await said(child)).toBe('dropped\n')
  })

  test('survives a reader that leaves, and does not keep the process', async () => {
    const child = writer(
      `setInterval(() => destination.write('a line\\n'), 1)
       setTimeout(() => {
         console.error('ending')
         process.exit()
       }, 400)`,
      'head -n 1 2>&-',
    )

    expect(await said(child)).toBe('ending\n')
  })
})
