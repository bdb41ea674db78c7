// Builds the image from the Dockerfile with buildah and runs it with runc as a cluster would: as a user
// without a name, on a read-only file system, without capabilities, with 512 MiB. Then runs the services
// of docker-compose.yml with it. Needs no daemon, but root. Where the base image cannot be pulled, makes
// one from Debian (debootstrap) and the Node that runs this script.
//
//   sudo node scripts/image-check.mjs [--base IMAGE]
//
// Exit codes: 0 passed, 1 failed, 77 not possible on this machine, with the reason on standard error.
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { skip } from './image/verdict.mjs'

const { values: options } = parseArgs({
  options: { base: { type: 'string' }, inside: { type: 'boolean', default: false } },
})

/**
 * Namespaces of its own, in which the rest runs: however this ends, no process, mount or named network of
 * it outlives them.
 */
const apart = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc']

function requirePrograms() {
  if (process.platform !== 'linux') skip('it needs Linux')
  if (process.getuid() !== 0) skip('it needs root')
  for (const program of ['buildah', 'runc', 'unshare', 'mount']) {
    if (spawnSync(program, ['--version'], { stdio: 'ignore' }).error !== undefined) {
      skip(`${program} is not installed`)
    }
  }
  const { status, stderr } = spawnSync('unshare', [
    ...apart,
    'mount',
    '-t',
    'tmpfs',
    'tmpfs',
    '/run',
  ])
  if (status !== 0) skip(`namespaces are not allowed here: ${String(stderr).trim()}`)
}

async function runApart() {
  const given = [...process.execArgv, ...process.argv.slice(1), '--inside']
  const directory = mkdtempSync(join(tmpdir(), 'postern-image-'))
  chmodSync(directory, 0o755)
  const inner = spawn('unshare', [...apart, process.execPath, ...given], {
    stdio: 'inherit',
    env: { ...process.env, TMPDIR: directory },
  })
  // unshare passes no signal on; its only child cleans up.
  const signalChild = (signal) => {
    const children = readFileSync(`/proc/${inner.pid}/task/${inner.pid}/children`, 'utf8')
    process.kill(Number(children), signal)
  }
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, signalChild)
  process.exitCode = await new Promise((ended) => inner.on('exit', (code) => ended(code ?? 1)))
  // Its namespaces have ended with it, so nothing is mounted there any more.
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
}

async function check() {
  // A /run of its own has the state of runc and the names of networks.
  spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', '/run'])
  const [{ findBase }, { build, inspectFiles, inspectImage }, { runAlone }, { runCompose }] =
    await Promise.all([
      import('./image/base.mjs'),
      import('./image/build.mjs'),
      import('./image/run-alone.mjs'),
      import('./image/run-compose.mjs'),
    ])
  const rootfs = await build(options.base ?? (await findBase()))
  const image = { ...(await inspectImage()), rootfs }
  inspectFiles(rootfs)
  await runAlone(image)
  await runCompose(image)
  console.log('image check passed')
  process.exit()
}

if (options.inside) {
  await check()
} else {
  requirePrograms()
  await runApart()
}
