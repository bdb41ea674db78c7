// Builds the image from the Dockerfile with buildah and runs it with runc as a cluster would: as a user
// without a name, on a read-only file system, without capabilities, with 512 MiB. Needs no daemon, but
// root. Where the base image cannot be pulled, makes one from Debian (debootstrap) and the Node that runs
// this script.
//
//   sudo node scripts/image-check.mjs [--base IMAGE]
//
// Exit codes: 0 passed, 1 failed, 77 not possible on this machine, with the reason on standard error.
import { execFile, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs, promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'

const root = join(import.meta.dirname, '..')
const { values: options } = parseArgs({ options: { base: { type: 'string' } } })
const MEMORY = 512 * 1024 * 1024
const USER = 65_532
const skipped = 77
/** Inside the build, whose steps run as root: of no machine. */
const buildHome = '/root'

const work = mkdtempSync(join(tmpdir(), 'postern-image-'))
const places = ['--root', join(work, 's'), '--runroot', join(work, 'r')]
const storage = ['--storage-driver', storageDriver(), ...places]
const id = `postern-${randomUUID()}`
const run = promisify(execFile)

/** overlay shares what layers have in common; vfs copies it, but works everywhere. */
function storageDriver() {
  const args = ['--storage-driver', 'overlay', ...places, 'info']
  return spawnSync('buildah', args, { stdio: 'ignore' }).status === 0 ? 'overlay' : 'vfs'
}

let isOver = false
function clean() {
  if (isOver) return
  isOver = true
  spawnSync('runc', ['delete', '--force', id], { stdio: 'ignore' })
  spawnSync('buildah', [...storage, 'umount', '--all'], { stdio: 'ignore' })
  rmSync(work, { recursive: true, force: true, maxRetries: 5 })
}
process.on('exit', clean)
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))

function skip(reason) {
  console.error(`image check skipped: ${reason}`)
  process.exit(skipped)
}

function fail(reason) {
  console.error(`image check failed: ${reason}`)
  process.exit(1)
}

function passed(what) {
  console.log(`ok: ${what}`)
}

function expectThat(holds, what) {
  if (!holds) fail(what)
  passed(what)
}

async function buildah(...args) {
  const { stdout } = await run('buildah', [...storage, ...args], { maxBuffer: 64 * 1024 * 1024 })
  return stdout.trim()
}

function has(program) {
  return spawnSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' }).status === 0
}

function requirePrograms() {
  if (process.platform !== 'linux') skip('it needs Linux')
  if (process.getuid() !== 0) skip('it needs root')
  for (const program of ['buildah', 'runc']) if (!has(program)) skip(`${program} is not installed`)
}

/** The base image of the Dockerfile, or one that is enough like it. */
async function findBase() {
  if (options.base !== undefined) return options.base
  const [, named] = /^ARG BASE=(\S+)$/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8'))
  const pulled = spawnSync('buildah', [...storage, 'pull', '--quiet', named], {
    stdio: 'ignore',
    timeout: 120_000,
  })
  if (pulled.status === 0) return named
  if (!has('debootstrap')) {
    skip('the base image cannot be pulled, and debootstrap is not installed to make one')
  }
  console.log('the base image cannot be pulled: making one from Debian')
  return makeBase()
}

async function makeBase() {
  const files = join(work, 'files')
  mkdirSync(join(files, 'bin'), { recursive: true })
  cpSync(process.execPath, join(files, 'bin/node'), { dereference: true })
  const { stdout: npm } = spawnSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' })
  const modules = join(realpathSync(npm.trim()), '../..')
  cpSync(modules, join(files, 'lib/node_modules/npm'), { recursive: true })
  for (const name of ['npm', 'npx']) {
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(files, 'bin', name))
  }
  const container = await buildah('from', 'scratch')
  await buildah('add', '--quiet', container, makeDebian(), '/')
  await buildah('copy', '--quiet', container, files, '/usr/local')
  await buildah('config', '--env', 'PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', container)
  await buildah('commit', '--quiet', '--rm', container, 'postern-base')
  return 'localhost/postern-base'
}

/** A Debian of few packages as a tar file, which is kept for the next time. */
function makeDebian() {
  const caches = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache')
  const cache = process.env.POSTERN_TEST_CACHE ?? join(caches, 'postern-test')
  const kept = join(cache, `debian-bookworm-${process.arch}.tar`)
  if (existsSync(kept)) return kept
  const directory = join(work, 'debian')
  const made = spawnSync('debootstrap', ['--variant=minbase', 'bookworm', directory], {
    stdio: 'ignore',
    timeout: 900_000,
  })
  if (made.status !== 0) skip('debootstrap could not make a base: no mirror, or not enough rights')
  mkdirSync(cache, { recursive: true })
  const unfinished = `${kept}.${process.pid}`
  const packed = spawnSync('tar', ['-C', directory, '--exclude=./dev/*', '-cf', unfinished, '.'])
  if (packed.status !== 0) fail(`tar failed: ${packed.stderr}`)
  renameSync(unfinished, kept)
  rmSync(directory, { recursive: true })
  return kept
}

async function buildImage(base) {
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
  const given = ['--build-arg', `BASE=${base}`, '--build-arg', `COMMIT=${'c'.repeat(40)}`]
  await buildah('bud', ...args, ...volumes, ...given, '--tag', 'postern', root)
  passed('the Dockerfile builds')
}

async function inspectImage() {
  const { Docker } = JSON.parse(await buildah('inspect', '--type', 'image', 'postern'))
  const { User, Labels, Healthcheck, Entrypoint, Cmd, Env, WorkingDir } = Docker.config
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  expectThat(User === `${USER}:${USER}`, 'it runs as a user by number who is not root')
  expectThat(
    Labels['org.opencontainers.image.version'] === version &&
      Labels['org.opencontainers.image.revision'] === 'c'.repeat(40),
    'its labels name version and commit',
  )
  return { args: [...Entrypoint, ...Cmd], check: Healthcheck.Test.slice(1), Env, WorkingDir }
}

function inspectFiles(rootfs) {
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

/** A collector of spans; resolves with the first export. */
function startCollector() {
  const { promise: exported, resolve } = Promise.withResolvers()
  const server = createServer((request, response) => {
    const chunks = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      response.setHeader('content-type', 'application/json').end('{}')
      resolve(gunzipSync(Buffer.concat(chunks)).toString())
    })
  })
  server.unref()
  return new Promise((listening) => {
    server.listen(0, '127.0.0.1', () => listening({ port: server.address().port, exported }))
  })
}

async function freePort() {
  const server = createServer()
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address()
  await new Promise((closed) => server.close(closed))
  return port
}

/** What a container engine would write for `--read-only --cap-drop ALL --memory 512m`. */
function writeBundle(rootfs, { args, Env, WorkingDir }, mounts) {
  const bundle = join(work, 'bundle')
  mkdirSync(bundle)
  const none = { bounding: [], effective: [], permitted: [], inheritable: [], ambient: [] }
  const flags = ['nosuid', 'noexec', 'nodev']
  writeFileSync(
    join(bundle, 'config.json'),
    JSON.stringify({
      ociVersion: '1.0.2',
      process: {
        user: { uid: USER, gid: USER },
        args,
        env: Env,
        cwd: WorkingDir,
        capabilities: none,
        noNewPrivileges: true,
      },
      root: { path: rootfs, readonly: true },
      hostname: 'postern',
      mounts: [
        { destination: '/proc', type: 'proc', source: 'proc' },
        { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755'] },
        ...mounts.map(([source, destination, mode]) => ({
          destination,
          source,
          type: 'bind',
          options: ['bind', mode, ...flags],
        })),
      ],
      linux: {
        // The network is that of the machine, so that nothing needs to be forwarded.
        namespaces: ['pid', 'ipc', 'uts', 'mount'].map((type) => ({ type })),
        resources: { memory: { limit: MEMORY } },
        maskedPaths: ['/proc/kcore', '/proc/keys', '/proc/timer_list'],
        readonlyPaths: ['/proc/sys', '/proc/irq', '/proc/bus'],
      },
    }),
  )
  return bundle
}

async function runImage(rootfs, image) {
  const [port, opsPort, collector] = [await freePort(), await freePort(), await startCollector()]
  const data = join(work, 'data')
  mkdirSync(data)
  chownSync(data, USER, USER)
  chmodSync(work, 0o755)
  const config = join(work, 'postern.yaml')
  writeFileSync(
    config,
    JSON.stringify({
      application: { host: '127.0.0.1', port, dataDirectory: '/var/lib/postern' },
      ops: { port: opsPort },
      jwt: { secret: randomUUID() + randomUUID() },
      // As in a cluster: the first start of the embedded database needs more memory than this.
      database: { url: 'postgres://none:none@127.0.0.1:9/none', migrate: 'never' },
      policy: { directory: '/app/policies' },
      tracing: { otlp: `http://127.0.0.1:${collector.port}` },
      shutdown: { graceMs: 0 },
      upstreams: { app: { targets: [`http://127.0.0.1:${collector.port}`] } },
      routes: [{ path: '/', upstream: 'app' }],
    }),
  )
  const bundle = writeBundle(rootfs, image, [
    [config, '/etc/postern/postern.yaml', 'ro'],
    [data, '/var/lib/postern', 'rw'],
  ])
  const started = spawn('runc', ['run', '--bundle', bundle, id], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines = []
  started.stdout.on('data', (chunk) => lines.push(String(chunk)))
  started.stderr.on('data', (chunk) => lines.push(String(chunk)))
  const ended = new Promise((resolve) => started.on('exit', resolve))
  let code
  void ended.then((given) => {
    code = given
  })
  const said = () => lines.join('')
  for (let tries = 0; !said().includes('"listening"'); tries++) {
    if (code !== undefined && /cgroup|operation not permitted|permission denied/i.test(said())) {
      skip(`runc lacks rights here: ${said().trim().split('\n').at(-1)}`)
    }
    if (code !== undefined || tries > 1200) fail(`it does not start (exit code ${code}): ${said()}`)
    await pause(100)
  }
  passed('it starts and listens')

  const inside = (...command) =>
    spawnSync('runc', ['exec', id, ...command], { encoding: 'utf8', timeout: 120_000 })
  const check = inside(...image.check)
  expectThat(check.status === 0, `the HEALTHCHECK passes on the configured port ${check.stderr}`)
  const version = JSON.parse(inside('postern', 'version', '--output', 'json').stdout)
  expectThat(version.commit === 'c'.repeat(40), 'it knows its commit')
  const status = inside('cat', '/proc/1/status').stdout
  expectThat(new RegExp(`^Uid:\\s+${USER}\\s`, 'm').test(status), 'it is not root')
  expectThat(/^CapEff:\s+0+$/m.test(status), 'it has no capabilities')
  expectThat(/^CapBnd:\s+0+$/m.test(status), 'it can get no capabilities')
  expectThat(/^NoNewPrivs:\s+1$/m.test(status), 'it can gain no privileges')
  expectThat(inside('touch', '/app/written').status !== 0, 'its file system is read-only')
  expectThat(inside('touch', '/var/lib/postern/written').status === 0, 'its data is writable')
  const limits = ['memory.max', 'memory/memory.limit_in_bytes']
  const { cgroup_paths: groups = {} } = JSON.parse(
    readFileSync(join('/run/runc', id, 'state.json'), 'utf8'),
  )
  const own = Object.values(groups).flatMap((path) =>
    limits.map((name) => join(path, name.split('/').at(-1))),
  )
  const limit = own.filter((path) => existsSync(path)).map((path) => readFileSync(path, 'utf8'))
  expectThat(
    limit.some((text) => Number(text) === MEMORY),
    'its memory is limited to 512 MiB',
  )

  const answer = await fetch(`http://127.0.0.1:${port}/anything`)
  const { code: refusal } = await answer.json()
  expectThat(refusal === 401, 'it refuses a caller without a token')
  const peak = Number(/^VmHWM:\s+(\d+)/m.exec(inside('cat', '/proc/1/status').stdout)?.[1]) / 1024
  console.log(`memory: ${Math.round(peak)} MB at most`)

  spawnSync('runc', ['kill', id, 'TERM'])
  expectThat((await ended) === 0, 'SIGTERM ends it with exit code 0')
  const spans = await Promise.race([collector.exported, pause(10_000, '')])
  expectThat(spans.includes('"postern.outcome"'), 'it exported a span by OTLP')
}

requirePrograms()
const base = await findBase()
try {
  await buildImage(base)
} catch (error) {
  const said = `${error.stderr ?? error}`
  if (/operation not permitted|permission denied/i.test(said)) {
    skip(`buildah lacks rights here: ${said.trim().split('\n').at(-1)}`)
  }
  if (
    /npm error (?:code|errno) (?:E(?:NOTFOUND|AI_AGAIN|CONN\w+|TIMEDOUT)|UNABLE_TO_\w+)/.test(said)
  ) {
    skip('the npm registry is unreachable from the build')
  }
  fail(`the Dockerfile does not build: ${said}`)
}
const image = await inspectImage()
const container = await buildah('from', '--pull-never', 'postern')
const rootfs = await buildah('mount', container)
inspectFiles(rootfs)
await runImage(rootfs, image)
console.log('image check passed')
process.exit()
