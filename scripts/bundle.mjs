// After the compiler: packs the modules in dist/ and the packages of many small files into few files, in
// place, so that a start reads and links 500 modules instead of 1,500 (docs/decisions/0038-bundle.md).
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, posix, relative } from 'node:path'
import { Script } from 'node:vm'
import { build } from 'vite'

const dist = realpathSync(process.argv[2] ?? 'dist')
const packed = join(dist, '.packed')
// The bundle has comments with the paths of its modules, relative to this.
process.chdir(dist)
/** The program, its threads, and what package.json exports. */
const entries = [
  'main',
  // Only packages have it: a gateway does not use it.
  ...(existsSync(join(dist, 'client')) ? ['client/src/client'] : []),
  'login/methods/module/contract',
  'login/methods/module/module-worker',
  'login/password-worker',
  'serve/console/answering-thread',
  'stores/policies/policy-worker',
]
/** What most gateways load. ioredis, which we patch, stays a package, and so do those that look for files beside their own. */
const packages = withDependencies([
  '@prometheus-io/client',
  'bowser',
  'jose',
  'kysely',
  'lru-cache',
  'pg',
  'pino',
  'yaml',
])

/** Word lists, templates, style sheets and so on, which modules read beside them. */
const dataFiles = new Set()

/** Modules find files beside them by `import.meta.url`, which in a chunk is that of the chunk. */
const ownPlaces = {
  name: 'own-places',
  transform(code, id) {
    if (!id.startsWith(`${dist}/`) || !code.includes('import.meta')) return undefined
    if (/import\.meta\.(?!url\b)/.test(code)) throw new Error(`${id}: use import.meta.url`)
    for (const [, name] of code.matchAll(/new URL\(\s*'\.\/([^']+)'/g)) {
      dataFiles.add(join(relative(dist, dirname(id)), name))
    }
    const place = `const ownPlace = new URL('place:${relative(dist, id)}', import.meta.url).href\n`
    return place + code.replaceAll('import.meta.url', 'ownPlace')
  },
  renderChunk(code, { fileName }) {
    return code.replace(/(["'`])place:([^"'`]+)\1/g, (_, quote, place) => {
      return `${quote}./${posix.relative(posix.dirname(fileName), place)}${quote}`
    })
  },
}

await build({
  root: dist,
  configFile: false,
  logLevel: 'warn',
  plugins: [ownPlaces],
  ssr: { noExternal: packages },
  build: {
    ssr: true,
    outDir: packed,
    target: 'node22',
    minify: false,
    rolldownOptions: {
      input: Object.fromEntries(entries.map((name) => [name, join(dist, `${name}.js`)])),
      output: {
        topLevelVar: false,
        entryFileNames: '[name].js',
        chunkFileNames: 'chunks/[name]-[hash].js',
      },
    },
  },
})

/** These packages and all that they need: a bundle would look for the rest beside it, where it need not be. */
function withDependencies(names, from = dist, found = new Set()) {
  for (const name of names) {
    if (found.has(name)) continue
    found.add(name)
    const place = placeOf(name, from)
    const { dependencies = {} } = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'))
    withDependencies(Object.keys(dependencies), place, found)
  }
  return [...found]
}

/** Where Node would find a package. */
function placeOf(name, from) {
  const place = join(from, 'node_modules', name)
  if (existsSync(place)) return realpathSync(place)
  if (from === dirname(from)) throw new Error(`${name} is not installed: run "npm ci"`)
  return placeOf(name, dirname(from))
}

// What was packed goes, what the bundle has comes in its place; types, pages and the commit stay.
for (const name of globSync('**/*.{js,js.map}', { cwd: dist, exclude: ['pages', '.packed'] })) {
  rmSync(join(dist, name))
  for (let at = dirname(join(dist, name)); readdirSync(at).length === 0; at = dirname(at)) {
    rmdirSync(at)
  }
}
for (const name of globSync('**/*.js', { cwd: packed })) {
  mkdirSync(dirname(join(dist, name)), { recursive: true })
  renameSync(join(packed, name), join(dist, name))
}
rmSync(packed, { recursive: true })
// The compiler leaves them where they are. Throws if one is missing.
const sources = join(import.meta.dirname, '..', 'src')
for (const name of dataFiles) cpSync(join(sources, name), join(dist, name))

// An old Node reads the program as a script, and then says that it is too old (src/main.ts).
const main = join(dist, 'main.js')
const text = readFileSync(main, 'utf8').replace(/^export \{\s*\};?\n?/m, '')
// Throws at what only a module can have.
new Script(text, { filename: main })
writeFileSync(main, text)
