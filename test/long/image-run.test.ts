import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

/** The exit code of the script where this machine cannot build or run an image. */
const notPossible = 77

interface Run {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Not in a blocking call: it takes minutes, in which the test runner expects messages of its worker. */
function checkImage(directory: string): Promise<Run> {
  return new Promise((resolve) => {
    const args = ['scripts/image-check.mjs']
    const env = { ...process.env, TMPDIR: directory }
    const script = execFile(process.execPath, args, { env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr })
    })
    // It cleans up when it is told to end.
    onTestFinished(() => void script.kill('SIGTERM'))
  })
}

// Where it has to make its base, it fetches a Debian and every package.
const longestMs = 1_800_000

test('the image builds, runs without privileges, and serves the topology of docker-compose.yml', {
  timeout: longestMs,
}, async (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'postern-image-run-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }))
  const { code, stdout, stderr } = await checkImage(directory)
  if (code === notPossible) {
    console.warn(stderr.trim())
    context.skip(stderr.trim())
  }

  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/image check passed\n$/)
  expect(readdirSync(directory)).toEqual([])
  const leftOut = /^left out: .*$/m.exec(stdout)?.[0]
  if (leftOut !== undefined) console.warn(leftOut)
  else
    expect(stdout).toContain(
      'ok: compose: a denied call at gateway-2 gets 401 you have no permission',
    )
})
