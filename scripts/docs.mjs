// npm run docs: builds the documentation site from the Markdown of the repository into site/dist.
//   npm run docs -- --serve [PORT]    also serves it, on the loopback address
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stagePages } from '../site/pages.mjs'

const site = fileURLToPath(new URL('../site', import.meta.url))
const [option, givenPort = '4173', ...more] = process.argv.slice(2)
const port = Number(givenPort)
if ((option !== undefined && option !== '--serve') || !Number.isInteger(port) || more.length > 0) {
  console.error('usage: npm run docs [-- --serve [PORT]]')
  process.exit(2)
}

/** The packages of site/package-lock.json. They stay out of the product's own tree; none needs its install script. */
function installPackages() {
  const lock = readFileSync(join(site, 'package-lock.json'))
  const digest = createHash('sha256').update(lock).digest('hex')
  const stamp = join(site, 'node_modules', '.postern-lock')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return
  console.error('postern: installing the packages of site/package-lock.json …')
  const { status } = spawnSync(
    process.platform === 'win32' ? 'npm.cmd' : 'npm',
    ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
    { cwd: site, stdio: ['ignore', 'inherit', 'inherit'], shell: process.platform === 'win32' },
  )
  if (status !== 0) {
    console.error('postern: npm ci failed; is the npm registry reachable?')
    process.exit(1)
  }
  writeFileSync(stamp, digest)
}

function build() {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['node_modules/vitepress/bin/vitepress.js', 'build'],
    { cwd: site, encoding: 'utf8' },
  )
  if (status !== 0) {
    console.error(`${stdout}${stderr}postern: the site was not built`)
    process.exit(1)
  }
}

const types = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
}

function serve() {
  const root = join(site, 'dist')
  // Only names of this list are read, so that no request can name another file.
  const files = new Set(readdirSync(root, { recursive: true, encoding: 'utf8' }))
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    const asked = pathname.slice(1).replace(/(^|\/)$/, '$1index.html')
    const found = extname(asked) !== '' && files.has(asked)
    const name = found ? asked : '404.html'
    response.writeHead(found ? 200 : 404, {
      'Content-Type': types[extname(name)] ?? 'application/octet-stream',
      'Cache-Control': 'no-store',
    })
    response.end(readFileSync(join(root, name)))
  })
  server.on('error', (error) => {
    console.error(`postern: port ${port}: ${error.message}`)
    process.exit(1)
  })
  server.listen(port, '127.0.0.1', () => {
    console.log(`postern: http://127.0.0.1:${server.address().port}/`)
  })
}

installPackages()
let pages = 0
try {
  pages = stagePages()
} catch (error) {
  console.error(`postern: ${error.message}`)
  process.exit(1)
}
console.error('postern: building the site …')
build()
console.log(`postern: ${pages} pages in site/dist`)
if (option === '--serve') serve()
