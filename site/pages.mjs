// Copies the Markdown of the repository into site/pages for the generator: docs/, and every page or file
// that a page links to. Links are rewritten, so that each one leads to a page of the site.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, extname, join, normalize, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const repository = fileURLToPath(new URL('..', import.meta.url))
const staged = fileURLToPath(new URL('pages', import.meta.url))
const index = 'docs/README.md'

const inRepository = (path) => join(repository, path)
const isDirectory = (path) => statSync(inRepository(path)).isDirectory()

/** Where a file of the repository is on the site. */
function placeOf(path) {
  if (path === index) return 'contents.md'
  if (path === 'README.md') return 'overview.md'
  const place = path.replace(/^docs\//, '')
  if (/\.(?:png|svg)$/.test(path)) return place
  // A dot would be taken for the end of the name: index.html.md and index.md would be one page.
  if (!path.endsWith('.md')) return `files/${path.replaceAll('.', '-')}.md`
  if (basename(place) === 'README.md') return join(dirname(place), 'index.md')
  return dirname(place) === '.' ? place.toLowerCase() : place
}

/** A directory stands for its README, where it has one. */
function fileOf(path) {
  const readme = join(path, 'README.md')
  return isDirectory(path) && existsSync(inRepository(readme)) ? readme : path
}

/** Calls `replace` for each link target outside of code. */
function withLinks(text, replace) {
  return text
    .split(/^(```[\s\S]*?^```.*$)/m)
    .map((part, at) =>
      at % 2 === 1
        ? part
        : part.replace(/`[^`\n]*`|\]\(([^)\s]+)\)/g, (all, target) =>
            target === undefined ? all : `](${replace(target)})`,
          ),
    )
    .join('')
}

/** The page of the site that a link in `page` leads to, without its ending. */
function addressOf(page, target) {
  const [path, anchor] = target.split('#')
  const place = placeOf(fileOf(normalize(join(dirname(page), path))))
  return `/${place.replace(/(?:^|(?<=\/))index\.md$|\.md$/, '')}${anchor === undefined ? '' : `#${anchor}`}`
}

/** The rows of the table of decisions. */
export function decisions() {
  const page = 'docs/decisions/README.md'
  const rows = readFileSync(inRepository(page), 'utf8').matchAll(
    /^\| \[(\d+)\]\(([^)]+)\) \| ([^|]+?) \|/gm,
  )
  return [...rows].map(([, number, file, title]) => ({
    text: `${number}. ${title.replaceAll('`', '')}`,
    link: addressOf(page, file),
  }))
}

/** The links of a list, by section and subsection: docs/README.md is also the order of the site. */
export function sectionsOf(page) {
  const sections = []
  for (const line of readFileSync(inRepository(page), 'utf8').split('\n')) {
    const heading = /^(##|###) (.+)$/.exec(line)
    if (heading?.[1] === '##') sections.push({ text: heading[2], items: [], groups: [] })
    if (heading?.[1] === '###') sections.at(-1).groups.push({ text: heading[2], items: [] })
    const link = /^- \[(.+?)\]\(([^)\s]+)\)/.exec(line)
    const section = sections.at(-1)
    if (link === null || section === undefined) continue
    const item = { text: link[1].replaceAll('`', ''), link: addressOf(page, link[2]) }
    ;(section.groups.at(-1) ?? section).items.push(item)
  }
  return sections
}

const languages = new Map([
  ['.conf', 'nginx'],
  ['.mjs', 'js'],
  ['.service', 'ini'],
  ['.csv', 'csv'],
  ['.yml', 'yaml'],
])
const known = /^\.(?:yaml|json|js|ts|html|css|go|py|java|sh|xml|toml)$/

function pageOfFile(path, text) {
  const extension = extname(path)
  const language = languages.get(extension) ?? (known.test(extension) ? extension.slice(1) : 'text')
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `---\nsearch: false\noutline: false\n---\n\n# ${path}\n\n${fence}${language}\n${text.trimEnd()}\n${fence}\n`
}

function pageOfDirectory(path) {
  const files = readdirSync(inRepository(path), { recursive: true, encoding: 'utf8' })
    .filter((name) => !/(?:^|\/)(?:node_modules|target|__pycache__)(?:\/|$)/.test(name))
    .filter((name) => !isDirectory(join(path, name)))
    .sort()
  const list = files.map((name) => `- [${name}](${name})`).join('\n')
  return `---\nsearch: false\noutline: false\n---\n\n# ${path}\n\n${list}\n`
}

/** Writes site/pages; returns the number of pages. Throws if a link leads nowhere. */
export function stagePages() {
  rmSync(staged, { recursive: true, force: true })
  const waiting = [
    index,
    ...readdirSync(inRepository('docs'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => join('docs', name)),
  ]
  const seen = new Set()
  const places = new Map()
  const dead = []
  let pages = 1

  for (const path of waiting) {
    if (seen.has(path)) continue
    seen.add(path)
    const place = placeOf(path)
    if (places.has(place)) throw new Error(`${path} and ${places.get(place)} are both ${place}`)
    places.set(place, path)
    const to = join(staged, place)
    mkdirSync(dirname(to), { recursive: true })
    if (!place.endsWith('.md')) {
      writeFileSync(to, readFileSync(inRepository(path)))
      continue
    }
    pages += 1
    const directory = isDirectory(path)
    const text = directory ? pageOfDirectory(path) : readFileSync(inRepository(path), 'utf8')
    if (!directory && !path.endsWith('.md')) {
      writeFileSync(to, pageOfFile(path, text))
      continue
    }
    const rewritten = withLinks(text, (target) => {
      if (/^(?:https?|mailto):|^#/.test(target)) return target
      const [link, anchor] = target.split('#')
      const linked = normalize(join(directory ? path : dirname(path), link)).replace(/\/$/, '')
      if (linked.startsWith('..') || !existsSync(inRepository(linked))) {
        dead.push(`${path}: ${target}`)
        return target
      }
      const file = fileOf(linked)
      waiting.push(file)
      const from = relative(dirname(place), placeOf(file))
      return `${from.startsWith('.') ? from : `./${from}`}${anchor === undefined ? '' : `#${anchor}`}`
    })
    // Diagrams use the place of the outline beside the text.
    const hasDiagram = /^```mermaid$/m.test(text)
    writeFileSync(to, hasDiagram ? `---\naside: false\n---\n\n${rewritten}` : rewritten)
  }

  if (dead.length > 0) throw new Error(`dead links:\n${dead.join('\n')}`)
  writeForMachines()
  writeHome()
  return pages
}

/** The landing page, with the version of the package and its picture. */
function writeHome() {
  const { version } = JSON.parse(readFileSync(inRepository('package.json'), 'utf8'))
  const home = readFileSync(fileURLToPath(new URL('home.md', import.meta.url)), 'utf8')
  writeFileSync(join(staged, 'index.md'), home.replace('{version}', version))
  cpSync(inRepository('docs/images/console/can.png'), join(staged, 'public/can.png'))
}

/** `/llms.txt` lists the pages with what they are about; `/llms-full.txt` is all of them in one file. */
function writeForMachines() {
  const lines = readFileSync(inRepository(index), 'utf8').split('\n')
  const listed = lines.flatMap((line) => {
    const [, title, target, more = ''] = /^- \[(.+?)\]\(([^)\s]+)\)(.*)/.exec(line) ?? []
    if (title === undefined) return /^##/.test(line) ? [`\n${line}\n`] : []
    const [path] = target.split('#')
    const file = fileOf(normalize(join(dirname(index), path)))
    return [
      `- [${title}](${placeOf(file).replace(/md$/, 'html')})${more.replace(/\[(.+?)\]\(\S+\)/g, '$1')}`,
    ]
  })
  const names = lines.flatMap((line) => {
    const [, target] = /^- \[.+?\]\(([^)\s]+)\)/.exec(line) ?? []
    return target === undefined
      ? []
      : [fileOf(normalize(join(dirname(index), target.split('#')[0])))]
  })
  const texts = [...new Set(names)].map((name) =>
    readFileSync(inRepository(name), 'utf8').trimEnd(),
  )
  const summary =
    'API gateway and reverse-proxy sidecar: login, identity, Casbin permission check, then forward.'
  mkdirSync(join(staged, 'public'), { recursive: true })
  writeFileSync(
    join(staged, 'public/llms.txt'),
    `# Postern\n\n> ${summary}\n${listed.join('\n')}\n`,
  )
  writeFileSync(join(staged, 'public/llms-full.txt'), `${texts.join('\n\n')}\n`)
}
