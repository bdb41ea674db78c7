import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)

/** Says after the Redis driver, and after our way to load it, whether V8 finds the methods of strings the quick way. */
const script = `
const { createRequire } = await import('node:module')
createRequire('${resolve('package.json')}')('ioredis')
console.log(%HasFastProperties(String.prototype))
const { loadDriver } = await import('${resolve('src/stores/redis/redis-driver.ts')}')
loadDriver()
console.log(%HasFastProperties(String.prototype))
`

test('the Redis driver makes strings slow, and they are quick again', async () => {
  const flags = ['--allow-natives-syntax', '--input-type=module', '--eval', script]
  const { stdout } = await run(process.execPath, flags)

  // Once the first is true by itself, nothing of this is needed any more.
  expect(stdout).toBe('false\ntrue\n')
})
