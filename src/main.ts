#!/usr/bin/env node
// An old Node must be able to read this file to say that it is too old, as a module or, before Node 12.17,
// as a script: no import statement, no await outside of functions, and of what came to the language after
// 2017 only `import()`. scripts/bundle.mjs keeps it so.

/** As in package.json, which only imported code could read. */
const [least, leastMinor] = [22, 19]
const { node } = process.versions
const [major, minor] = node.split('.').map(Number)

if (Number(major) < least || (major === least && Number(minor) < leastMinor)) {
  process.stderr.write(
    `postern: Node ${node} is too old: install Node ${least}.${leastMinor} or a later version\n`,
  )
  process.exit(1)
}
void run()

async function run(): Promise<void> {
  const [{ dispatch }, { createIo, flushed }, { programs }] = await Promise.all([
    import('./cli/commands/dispatch.ts'),
    import('./cli/process-io.ts'),
    import('./serve/programs/programs.ts'),
  ])
  const argv = process.argv.slice(2)
  const code = await dispatch(argv, createIo(process, programs))
  // Writing to a pipe continues in the background, and a truncated answer would look complete. Not for
  // a gateway: a reader of its log that no longer reads must not delay its exit.
  const isGateway = ['serve', 'worker', 'console'].includes(String(argv[0]))
  if (!isGateway) await flushed(process)
  // Outright: an open handle must not keep the process alive.
  process.exit(code)
}
