import { spawnSync } from 'node:child_process'
import { stop } from './stop.mjs'

/** What a program prints, which must succeed. */
export function run(program, args, options = {}) {
  const { error, status, stdout, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
    ...options,
  })
  if (error !== undefined) stop(`${program} is missing: ${error.message}`)
  if (status !== 0) stop(`${program} ${args[0]} failed:\n${`${stdout}${stderr}`.trimEnd()}`)
  return stdout
}

export function has(program) {
  return spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0
}
