#!/usr/bin/env node
import { isTooOld, oldestNode } from './version.ts'

// Before anything else is loaded: an old Node would stop at the first thing that it does not know.
const { node } = process.versions
if (isTooOld(node)) {
  process.stderr.write(
    `postern: Node ${node} is too old: install Node ${oldestNode} or a later version\n`,
  )
  process.exit(1)
}

const [{ dispatch }, { createIo, flushed }] = await Promise.all([
  import('./cli/commands/dispatch.ts'),
  import('./cli/process-io.ts'),
])
const argv = process.argv.slice(2)
const code = await dispatch(argv, createIo(process))
// Writing to a pipe continues in the background, and a truncated answer would look complete. Not for
// a gateway: a reader of its log that no longer reads must not delay its exit.
const isGateway = ['serve', 'worker', 'console'].includes(String(argv[0]))
if (!isGateway) await flushed(process)
// Outright: an open handle must not keep the process alive.
process.exit(code)
