import { defineConfig } from 'vitepress'
import { decisions, sectionsOf } from '../pages.mjs'
import { slug } from '../slug.mjs'

const sections = sectionsOf('docs/README.md')

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#3451b2" d="M3 15V6a5 5 0 0 1 10 0v9h-3V6a2 2 0 0 0-4 0v9z"/></svg>'

function sidebarOf({ text, items, groups }) {
  const subgroups = groups.map((group) => ({ ...group, collapsed: false }))
  const more =
    text === 'Explanation' ? [{ text: 'All decisions', items: decisions(), collapsed: true }] : []
  return { text, items: [...items, ...subgroups, ...more], collapsed: false }
}

const references = sections
  .filter(({ text }) => text === 'Reference')
  .flatMap(({ items, groups }) => [...items, ...groups.flatMap((group) => group.items)])
  .map(({ link }) => link.replace(/^\/|[#.].*$/g, ''))

/** References of names: each name in the first column of a table has an anchor, for messages to link to. */
const namedRows = /^(?:metrics|outcomes|refusals|policy-warnings)\.md$/

function anchorNames({ tokens, env }) {
  if (!namedRows.test(env.relativePath ?? '')) return
  const taken = new Set(tokens.map((token) => token.attrGet('id')))
  for (const [at, { type }] of tokens.entries()) {
    if (type !== 'tr_open' || tokens[at + 1].type !== 'td_open') continue
    for (const name of tokens[at + 2].children.filter((child) => child.type === 'code_inline')) {
      const id = slug(name.content)
      if (taken.has(id)) continue
      taken.add(id)
      name.attrSet('id', id)
    }
  }
}

/**
 * Those who search want to do something more often than to look something up: a reference repeats every
 * word many times, and would be first. The browser gets the text of this function, so it is made of text.
 */
const boostDocument = new Function(
  'id',
  `if (/(?:^|\\/)(?:${references.join('|')})\\.html/.test(id)) return 0.3
  return /(?:^|\\/)(?:commands\\/|console\\/|contributing\\.|decisions\\/|changelog\\.|helm\\/)/.test(id) ? 0.2 : 1`,
)

export default defineConfig({
  title: 'Postern',
  description:
    'API gateway and reverse-proxy sidecar: login, identity, Casbin permission check, then forward.',
  // Without an icon, browsers ask for /favicon.ico.
  head: [['link', { rel: 'icon', href: `data:image/svg+xml,${encodeURIComponent(icon)}` }]],
  srcDir: 'pages',
  outDir: 'dist',
  cacheDir: 'node_modules/.cache/vitepress',
  // Relative, so that the result works under every path of a web server.
  base: './',
  markdown: {
    // The pages have no HTML of their own; what looks like it, such as <NAME>, is text.
    html: false,
    linkify: false,
    // Braces at the end of a heading, such as /oidc/{provider}, are text as well.
    attrs: false,
    languageAlias: { caddyfile: 'txt' },
    anchor: { slugify: slug },
    config(md) {
      md.core.ruler.push('anchor_names', anchorNames)
      const { code_inline, fence, text } = md.renderer.rules
      md.renderer.rules.fence = (tokens, at, ...rest) =>
        tokens[at].info.trim() === 'mermaid'
          ? `<Diagram source="${encodeURIComponent(tokens[at].content)}" />`
          : fence(tokens, at, ...rest)
      // Indented blocks look like fenced ones.
      md.renderer.rules.code_block = (tokens, at, ...rest) => {
        tokens[at].info = 'text'
        return fence(tokens, at, ...rest)
      }
      // Vue would evaluate braces.
      for (const [name, rule] of Object.entries({ text, code_inline })) {
        md.renderer.rules[name] = (...parts) => rule(...parts).replaceAll('{{', '&#123;&#123;')
      }
    },
  },
  themeConfig: {
    nav: sections.map(({ text }) => ({ text, link: `/contents#${slug(text)}` })),
    sidebar: sections.map(sidebarOf),
    outline: [2, 3],
    search: { provider: 'local', options: { miniSearch: { searchOptions: { boostDocument } } } },
    externalLinkIcon: true,
  },
})
