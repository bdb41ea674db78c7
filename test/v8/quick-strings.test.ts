import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)

/** Says before and after whether V8 finds the methods of strings the quick way. */
const script = `
const { restoreFastStrings } = await import('${resolve('src/fast-strings.ts')}')
await import('${resolve('src/serve/serve.ts')}')
console.log(%HasFastProperties(String.prototype))
restoreFastStrings()
console.log(%HasFastProperties(String.prototype))
`

test('what a gateway loads makes strings slow, and they are quick again', async () => {
  const flags = ['--allow-natives-syntax', '--input-type=module', '--eval', script]
  const { stdout } = await run(process.execPath, flags)

  // Once the first is true by itself, nothing of this is needed any more.
  expect(stdout).toBe('false\ntrue\n')
})
