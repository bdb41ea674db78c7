import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { documentedPages } from './support/documented-pages.ts'
import { blocksOf, isShown, shownIds } from './support/page-blocks.ts'

describe('the blocks of a page', () => {
  test('have commands with their output, and files', () => {
    const page = [
      '# Title',
      '```js file=a.mjs',
      'let a',
      '```',
      '```console',
      '$ one \\',
      '  more',
      'out',
      '$ two',
      '```',
      '```yaml',
      'a: 1',
      '```',
      '1. A list:',
      '   ```console running',
      '   $ three',
      '   listening',
      '   ```',
    ].join('\n')

    expect(blocksOf(page)).toEqual([
      { kind: 'file', line: 3, name: 'a.mjs', text: 'let a\n' },
      {
        kind: 'commands',
        line: 6,
        commands: [
          { line: 6, command: 'one \\\n  more', output: 'out\n' },
          { line: 9, command: 'two', output: '' },
        ],
      },
      {
        kind: 'running',
        line: 16,
        commands: [{ line: 16, command: 'three', output: 'listening\n' }],
      },
    ])
  })

  test.each([
    ['the same', 'a\nb\n', 'a\nb\n'],
    ['without a newline at the end', 'a', 'a\n'],
    ['… in a line', 'added 95 packages in 4s\n', 'added … packages in …\n'],
    ['a line of …', 'a\nb\nc\nd\n', 'a\n…\nd\n'],
    ['a line of … for nothing', 'a\nd\n', 'a\n…\nd\n'],
    ['another replica and another time', 'vm-7145-51b3ef 0.4 s ago', 'web-12-aabbcc  12 s ago\n'],
    ['another duration', 'web-12-aabbcc evaluating 14 s', 'web-12-aabbcc  evaluating  1 min\n'],
    ['another date', 'expires 2027-02-14', 'expires 2026-11-16\n'],
    ['another minute', 'seen 2027-02-14T18:51Z', 'seen 2026-11-16T18:41Z\n'],
    ['another password', 'MxVBZFQy9AEexRhe', 'c5uu7wue9RxMhrrb\n'],
    ['another thumbprint', 'a'.repeat(43), `${'b'.repeat(43)}\n`],
    ['nothing', '', ''],
  ])('are compared: %s', (_, printed, shown) => {
    expect(isShown(printed, shown)).toBe(true)
  })

  test.each([
    ['another word', 'a\nc\n', 'a\nb\n'],
    ['a missing line', 'a\n', 'a\nb\n'],
    ['a further line', 'a\nb\nc\n', 'a\nb\n'],
    ['… over the end of its line', 'a\nb\n', 'a … b\n'],
    ['another revision', `r-${'0'.repeat(32)}`, `r-${'1'.repeat(32)}\n`],
    ['something for nothing', 'a\n', ''],
  ])('are told apart: %s', (_, printed, shown) => {
    expect(isShown(printed, shown)).toBe(false)
  })

  test('show identifiers that later commands use', () => {
    const shown = '01a1e5a9-b647-7d9c-832d-3d2c3bf8cce9'
    const printed = '01a1eae8-9824-739b-8284-d3f75aec7fdf'

    expect(shownIds(`ended ${printed} of bob`, `ended ${shown} of bob\n`)).toEqual([
      [shown, printed],
    ])
  })

  test('may show the start of the output alone', () => {
    expect(isShown('a\nb\n', 'a\n', { start: true })).toBe(true)
    expect(isShown('a\nb\n', 'b\n', { start: true })).toBe(false)
  })
})

/** Every page but `CONTRIBUTING.md`, and the reference of commands, which is their help. */
const pages = ['docs', 'samples', 'helm']
  .flatMap((root) =>
    readdirSync(root, { recursive: true, encoding: 'utf8' }).map((name) => join(root, name)),
  )
  .concat('README.md')
  .filter((name) => name.endsWith('.md') && !/^docs\/commands[/.]/.test(name))
const textOf = (page: string) => readFileSync(page, 'utf8')
/** In a system of its own: test/long/docs-one-machine.test.ts. */
const onDebian = 'docs/one-machine.md'
const isRun = (page: string) => page === onDebian || page in documentedPages

describe('the commands of every page', () => {
  test('are in console blocks', () => {
    expect(
      pages.flatMap((page) => misplacedCommands(textOf(page)).map((at) => `${page}:${at}`)),
    ).toEqual([])
  })

  test('are run, or marked as not run on a page that docs/evidence.md names', () => {
    const [, notRun = ''] = textOf('docs/evidence.md').split('## Commands that are not run')
    const isNamed = (page: string) => notRun.includes(`](${relative('docs', page)})`)
    const silent = pages.flatMap((page) =>
      blocksOf(textOf(page)).flatMap(({ kind, line }) => {
        if (kind === 'file') return []
        const isFine = kind === 'not-run' ? isNamed(page) : isRun(page)
        return isFine ? [] : [`${page}:${line}`]
      }),
    )

    expect(silent).toEqual([])
  })

  test('are for readers, who do not run the tests', () => {
    const mentions = pages.filter((page) => textOf(page).includes('docs:check'))
    expect(
      mentions.filter((page) => page !== 'docs/evidence.md' && !page.includes('decisions')),
    ).toEqual([])
  })

  test('change files with what Linux and macOS have', () => {
    // sed of macOS takes the word after -i for a suffix, and knows no \\n in a replacement.
    expect(pages.filter((page) => page !== onDebian && /^\$ sed -i/m.test(textOf(page)))).toEqual(
      [],
    )
  })

  test('are those of the table of pages', () => {
    const without = Object.keys(documentedPages).filter(
      (page) => !blocksOf(textOf(page)).some(({ kind }) => kind !== 'file' && kind !== 'not-run'),
    )
    const setups = readdirSync('test/pages').filter(
      (name) => !isRun(`docs/${name}`) && !isRun(name),
    )

    expect(without).toEqual([])
    expect(setups).toEqual([])
  })

  test.each([
    ['no language', '```\npostern serve\n```\n', [1]],
    ['a shell', '```sh\npostern serve\n```\n', [1]],
    ['a prompt in a text', '```text\n$ id\n```\n', [1]],
    ['a program in a text', 'a\n\n```text\ncurl -s x\n```\n', [3]],
    ['indentation', 'a\n\n    npm start\n', [3]],
    ['a file', '```sh file=a\nid\n```\n', []],
    ['a text', '```text\np, editor, /notes, GET\n```\n', []],
    ['a console block', '```console\n$ id\n```\n', []],
    ['a list', '- a\n\n    b\n', []],
  ])('are found: %s', (_, text, lines) => {
    expect(misplacedCommands(text)).toEqual(lines)
  })
})

const program =
  /^\s*(?:\$ |(?:npx|npm|node|postern|curl|docker|kubectl|helm|git|openssl|apt-get|systemctl|redis-cli|psql|sed|install) )/m

/** Where a page has commands in a block that nothing looks at. */
function misplacedCommands(text: string): readonly number[] {
  const lineAt = (index: number) => text.slice(0, index).split('\n').length
  const fences = [...text.matchAll(/^( *)(`{3,})([^\n]*)\n([\s\S]*?)^\1\2$/gm)]
  const fenced = fences.flatMap(({ index, 3: words = '', 4: body = '' }) => {
    const language = words.split(' ')[0] ?? ''
    if (words.includes('file=')) return []
    const isShell = ['', 'sh', 'bash', 'shell'].includes(language)
    return isShell || (language === 'text' && program.test(body)) ? [lineAt(index)] : []
  })
  const prose = fences.reduceRight(
    (so, { index, 0: { length } }) =>
      so.slice(0, index) +
      so.slice(index, index + length).replaceAll(/[^\n]/g, '') +
      so.slice(index + length),
    text,
  )
  const indented = [...prose.matchAll(/\n\n( {4,}[^\n]*)/g)].flatMap(({ index, 1: body = '' }) =>
    program.test(body) ? [lineAt(index + 2)] : [],
  )
  return [...fenced, ...indented]
}
