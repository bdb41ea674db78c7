import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'

/** Another process that has the embedded database of a directory open. */
export interface OtherProcess {
  run(statement: string): Promise<unknown>
  /** Ends it in order. */
  close(): Promise<void>
  kill(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void
  readonly ended: Promise<unknown>
}

/** Starts a process and waits until it has the database open. It does not outlive the test. */
export async function otherProcess(directory: string): Promise<OtherProcess> {
  const script = join(import.meta.dirname, 'embedded-process.ts')
  const child = spawn(process.execPath, [script, directory], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const first = await lines.next()
  if (first.value !== 'open') throw new Error('the other process did not open its database')

  return {
    async run(statement) {
      child.stdin.write(`${statement}\n`)
      const line = await lines.next()
      return JSON.parse(line.value ?? 'null')
    },
    async close() {
      child.stdin.end()
      await ended
    },
    kill: (signal) => void child.kill(signal),
    ended,
  }
}
