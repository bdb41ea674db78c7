import { spawn } from 'node:child_process'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { runCommand } from './run-command.ts'

/** What a script printed, and its exit code. */
export interface RanScript {
  readonly code: number | null
  readonly out: string
}

/** A machine that runs scripts of pipelines. */
export interface CiRunner {
  /** A program that runs `postern` in the process of the test: starting the product takes a second. */
  readonly postern: string
  /** A directory in front of PATH. */
  readonly bin: string
  run(script: string, options: ScriptOptions): Promise<RanScript>
}

interface ScriptOptions {
  readonly shell: 'bash' | 'sh'
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/** Starts one with nothing but `node` and the usual programs in PATH. */
export async function startCiRunner(directory: string): Promise<CiRunner> {
  const socket = join(directory, 'postern.sock')
  const server = createServer({ allowHalfOpen: true }, async (connection) => {
    const { args, cwd, env } = JSON.parse(await text(connection))
    connection.end(JSON.stringify(await runCommand(args, { cwd, env })))
  })
  await new Promise<void>((done) => server.listen(socket, done))
  onTestFinished(() => void server.close())

  const postern = join(directory, 'main.cjs')
  await writeFile(postern, clientOf(socket))
  const bin = join(directory, 'bin')
  await mkdir(bin)
  const path = `${bin}:${join(process.execPath, '..')}:${process.env['PATH'] ?? ''}`

  return {
    postern,
    bin,
    async run(script, { shell, cwd, env }) {
      const merged = { ...env, PATH: `${env['PATH'] ?? ''}:${path}`, HOME: directory }
      const child = spawn(shell, ['-e', '-c', script], { cwd, env: merged })
      const output = Promise.all([text(child.stdout), text(child.stderr)])
      const code = await new Promise<number | null>((done) => child.on('close', done))
      return { code, out: (await output).join('') }
    },
  }
}

/** Writes an executable shell script. */
export async function writeProgram(file: string, script: string): Promise<void> {
  await writeFile(file, `#!/bin/sh\n${script}`)
  await chmod(file, 0o755)
}

function clientOf(socket: string): string {
  return `
    const { connect } = require('node:net')
    const connection = connect(${JSON.stringify(socket)})
    const { env } = process
    connection.end(JSON.stringify({ args: process.argv.slice(2), cwd: process.cwd(), env }))
    let answer = ''
    connection.on('data', (chunk) => { answer += chunk })
    connection.on('end', () => {
      const { code, out, err } = JSON.parse(answer)
      process.stdout.write(out)
      process.stderr.write(err)
      process.exitCode = code
    })
  `
}
