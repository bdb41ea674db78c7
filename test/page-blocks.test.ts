import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { blocksOf, isShown } from './support/page-blocks.ts'

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
        commands: [
          { line: 6, command: 'one \\\n  more', output: 'out\n' },
          { line: 9, command: 'two', output: '' },
        ],
      },
      { kind: 'running', commands: [{ line: 16, command: 'three', output: 'listening\n' }] },
    ])
  })

  test.each([
    ['the same', 'a\nb\n', 'a\nb\n'],
    ['without a newline at the end', 'a', 'a\n'],
    ['… in a line', 'added 95 packages in 4s\n', 'added … packages in …\n'],
    ['a line of …', 'a\nb\nc\nd\n', 'a\n…\nd\n'],
    ['a line of … for nothing', 'a\nd\n', 'a\n…\nd\n'],
    ['another replica and another time', 'vm-7145-51b3ef 0.4 s ago', 'web-12-aabbcc  12 s ago\n'],
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

  test('may show the start of the output alone', () => {
    expect(isShown('a\nb\n', 'a\n', { start: true })).toBe(true)
    expect(isShown('a\nb\n', 'b\n', { start: true })).toBe(false)
  })
})

describe('pages with commands to run', () => {
  const pages = readdirSync('docs')
    .filter((name) => name.endsWith('.md'))
    .filter((name) => /^ *```console/m.test(readFileSync(join('docs', name), 'utf8')))

  test.each(pages)('%s is run by npm run docs:check', (page) => {
    const tests = readdirSync('test/long').filter((name) => name.startsWith('docs-'))
    const texts = tests.map((name) => readFileSync(join('test/long', name), 'utf8'))

    expect(texts.some((text) => text.includes(`runPage('docs/${page}'`))).toBe(true)
  })

  test.each(pages)('%s says which commands are not run', (page) => {
    const text = readFileSync(join('docs', page), 'utf8')
    const silent = text
      .split(/^ *```/m)
      .flatMap((part, index, parts) =>
        part.startsWith('console not-run') && !parts[index - 1]?.includes('docs:check')
          ? [part]
          : [],
      )

    expect(silent).toEqual([])
  })
})
