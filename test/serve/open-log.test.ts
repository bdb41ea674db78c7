import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openLog } from '../../src/serve/open-log.ts'
import { readTestConfig } from '../support/test-config.ts'

// Two writers to one place would write into each other's lines when its reader is slow.
test('what goes to one place by both outputs stays in its order', () => {
  const directory = mkdtempSync(join(tmpdir(), 'postern-outputs-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const file = join(directory, 'output')
  const [fd, errorFd] = [openSync(file, 'a'), openSync(file, 'a')]
  const config = readTestConfig({})
  const output = { fd, errorFd, isTerminal: false, env: {} }

  const { forward, forwardErrors, flush } = openLog(config, output, undefined)
  forward('first\n')
  forwardErrors('second\n')
  forward('third\n')
  flush()

  expect(readFileSync(file, 'utf8')).toBe('first\nsecond\nthird\n')
})
