import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)

/** What a process prints that settles itself first. */
async function printed(script: string, flag: string): Promise<string> {
  const settle = `(await import('${resolve('src/serve/settle-process.ts')}')).settleProcess();`
  const args = [flag, '--input-type=module', '--eval', settle + script]
  return (await run(process.execPath, args)).stdout
}

test('settling never keeps a gateway from starting, whatever options Node was given', async () => {
  expect(await printed("console.log('on')", '--expose-gc-as=collect')).toBe('on\n')
  expect(await printed('console.log(typeof gc)', '--expose-gc')).toBe('function\n')
})
