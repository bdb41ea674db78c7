import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { buildah } from './buildah.mjs'
import { USER } from './container.mjs'
import { expectThat, fail, passed, skip } from './verdict.mjs'
import { root, work } from './workplace.mjs'

/** Inside the build, whose steps run as root: of no machine. */
const buildHome = '/root'

/** What npm prints when its registry does not answer. */
const unreachable =
  /npm error (?:code|errno) (?:E(?:NOTFOUND|AI_AGAIN|CONN|TIMEDOUT|IDLETIMEOUT|RR_SOCKET|5\d\d)|UNABLE_TO_)/

/** Builds the image on this base. Returns the directory of its files. */
export async function build(base) {
  try {
    await buildImage({ base, commit: 'c'.repeat(40), tag: 'postern', context: root })
    passed('the Dockerfile builds')
  } catch (error) {
    const said = `${error.stderr ?? error}`
    if (/operation not permitted|permission denied/i.test(said)) {
      skip(`buildah lacks rights here: ${said.trim().split('\n').at(-1)}`)
    }
    if (unreachable.test(said)) skip('the npm registry is unreachable from the build')
    fail(`the Dockerfile does not build: ${said}`)
  }
  return buildah('mount', await buildah('from', '--pull-never', 'postern'))
}

/** Builds the Dockerfile of `context`. With `time`, in seconds, two builds of the same files are equal. */
export async function buildImage({ base, commit, tag, context, platform, time }) {
  const args = ['--isolation', 'chroot', '--format', 'docker', '--layers=false', '--pull-never']
  // The registry, the certificates and the cache of this machine, which are then not in the image.
  const { stdout: cache } = spawnSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' })
  const own = join(homedir(), '.npmrc')
  const authorities = process.env.NODE_EXTRA_CA_CERTS
  const npmrc = join(work, 'npmrc')
  const settings = [existsSync(own) ? readFileSync(own, 'utf8') : '', 'prefer-offline=true']
  if (authorities) settings.push(`cafile=${buildHome}/authorities.pem`)
  writeFileSync(npmrc, `${settings.join('\n')}\n`)
  const volumes = [
    ...['--volume', `${npmrc}:${buildHome}/.npmrc:ro`],
    ...(existsSync(cache.trim()) ? ['--volume', `${cache.trim()}:${buildHome}/.npm`] : []),
    ...(authorities ? ['--volume', `${authorities}:${buildHome}/authorities.pem:ro`] : []),
  ]
  const given = ['--build-arg', `BASE=${base}`, '--build-arg', `COMMIT=${commit}`]
  if (platform !== undefined) given.push('--platform', platform)
  if (time !== undefined) given.push('--timestamp', String(time))
  await buildah('bud', ...args, ...volumes, ...given, '--tag', tag, context)
}

export async function inspectImage() {
  const { Docker } = JSON.parse(await buildah('inspect', '--type', 'image', 'postern'))
  const { User, Labels, Healthcheck, Entrypoint, Cmd, Env, WorkingDir } = Docker.config
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  expectThat(User === `${USER}:${USER}`, 'it runs as a user by number who is not root')
  expectThat(
    Labels['org.opencontainers.image.version'] === version &&
      Labels['org.opencontainers.image.revision'] === 'c'.repeat(40),
    'its labels name version and commit',
  )
  return {
    args: [...Entrypoint, ...Cmd],
    check: Healthcheck.Test.slice(1),
    env: Env,
    user: USER,
    cwd: WorkingDir,
  }
}

export function inspectFiles(rootfs) {
  const { stdout: elevated } = spawnSync(
    'find',
    [rootfs, '-xdev', '-type', 'f', '-perm', '/6000'],
    {
      encoding: 'utf8',
    },
  )
  expectThat(elevated === '', `no program runs as another user${elevated && `: ${elevated}`}`)
  const gone = ['usr/local/bin/npm', 'usr/local/lib/node_modules', 'app/src', 'app/test']
  expectThat(!gone.some((path) => existsSync(join(rootfs, path))), 'no npm, no sources, no tests')
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const installed = (path) => existsSync(join(rootfs, 'app', path))
  const all = Object.entries(packages).filter(([path]) => path !== '')
  const wrong = all.filter(([path, { dev, optional }]) => installed(path) !== (!dev && !optional))
  expectThat(
    wrong.length === 0,
    `exactly the packages of production${wrong.map(([path]) => ` ${path}`).join('')}`,
  )
  const { stdout: size } = spawnSync('du', ['-sm', rootfs], { encoding: 'utf8' })
  console.log(`size: ${size.split('\t')[0]} MB unpacked`)
}
