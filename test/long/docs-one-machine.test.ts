import { execFile, spawnSync } from 'node:child_process'
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { pack, succeed } from '../support/packed-package.ts'
import { runPage } from '../support/run-page.ts'

/** Why this machine cannot make a Debian to run the page in. */
async function obstacle(): Promise<string | undefined> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'root on Linux is needed'
  const found = spawnSync('sh', ['-c', 'command -v debootstrap'], { encoding: 'utf8' })
  if (found.status !== 0) return 'debootstrap is not installed'
  // Asked here, because debootstrap tries for minutes.
  const [, mirror] =
    /^DEF_MIRROR="([^"]+)"$/m.exec(await readFile(found.stdout.trim(), 'utf8')) ?? []
  const limit = { method: 'HEAD', signal: AbortSignal.timeout(20_000) }
  const isThere = await fetch(`${mirror}/dists/trixie/Release`, limit).then(
    ({ ok }) => ok,
    () => false,
  )
  return isThere ? undefined : 'no Debian mirror can be reached'
}

test('docs/one-machine.md: every command prints what the page shows, in a fresh Debian', {
  timeout: 1_800_000,
}, async (context) => {
  const reason = await obstacle()
  if (reason !== undefined) {
    console.warn(`skipped: docs/one-machine.md is not run: ${reason}`)
    context.skip(reason)
  }
  const root = await mkdtemp(join(tmpdir(), 'postern-debian-'))
  onTestFinished(() => rm(root, { recursive: true, force: true, maxRetries: 5 }))
  const chroot = join(root, 'debian')
  await promisify(execFile)('debootstrap', ['--variant=minbase', 'trixie', chroot])
  await copyFile(await pack(root), join(chroot, 'root/postern-0.1.0.tgz'))

  const page = await runPage('docs/one-machine.md', {
    chroot,
    ports: [3000, 8000, 9100],
    setup: 'test/pages/one-machine.md',
    env: {
      HOME: '/root',
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      POSTERN_OPS__PORT: '9100',
      ...(await registry(chroot)),
    },
  })
  onTestFinished(() => page.close())

  expect(page.differences).toEqual([])
  expect(page.count).toBeGreaterThanOrEqual(20)
})

/** A new system knows neither the npm registry of this machine nor its certificate authorities. */
async function registry(chroot: string): Promise<Readonly<Record<string, string>>> {
  const npm_config_registry = (await succeed('npm', ['config', 'get', 'registry'])).trim()
  const named = (await succeed('npm', ['config', 'get', 'cafile'])).trim()
  const authorities = named === 'null' ? process.env['NODE_EXTRA_CA_CERTS'] : named
  if (authorities === undefined) return { npm_config_registry }
  const npm_config_cafile = '/etc/test-authorities.pem'
  await copyFile(authorities, join(chroot, npm_config_cafile))
  return { npm_config_registry, npm_config_cafile }
}
