#!/usr/bin/env node
import { dispatch } from './cli/commands/dispatch.ts'
import { createIo, flushed } from './cli/process-io.ts'

const argv = process.argv.slice(2)
const code = await dispatch(argv, createIo(process))
// Writing to a pipe continues in the background, and a truncated answer would look complete. Not for
// a gateway: a reader of its log that no longer reads must not delay its exit.
if (!['serve', 'worker', 'console'].includes(argv[0] ?? '')) await flushed(process)
// Outright: an open handle must not keep the process alive.
process.exit(code)
