import { dirname } from 'node:path'
import { describe, expect, test } from 'vitest'
import { homes } from './support/library-homes.ts'
import { arrows, cycles, sources, unusedExports } from './support/sources.ts'

/**
 * The folders of `src`: each may import those before it. The schema of settings comes before the parts that
 * take their settings, which the rest of `config` reads and checks.
 */
const order: readonly string[] = [
  ...['kernel', 'background', 'log', 'metrics', 'tracing', 'fleet', 'h2', 'wire', 'signing'],
  ...['token', 'config/schema', 'login', 'messages', 'policy', 'admission', 'answers'],
  ...['replay', 'openapi', 'config', 'gateway', 'http', 'page', 'stores', 'workers'],
  ...['operations', 'cli', 'console', 'serve', 'main.ts'],
]

/** Commands and console are views of operations: what they may import besides themselves. */
const forViews = {
  cli: ['kernel', 'fleet', 'config', 'operations'],
  console: [
    ...['kernel', 'background', 'fleet', 'messages', 'config', 'log', 'http'],
    ...['operations', 'cli'],
  ],
}

/** Folders with few doors: others import only these files of them. */
const doors = {
  cli: ['commands/dispatch', 'commands/renderings', 'exit-codes', 'format', 'io', 'process-io'],
  h2: [
    ...['error-codes', 'frames', 'message-fields', 'session', 'session-events', 'stream'],
    'without-rest',
  ],
  openapi: ['document'],
  replay: ['log-source', 'replay'],
  serve: ['programs/programs'],
}

/** The console logs people in, and the commands do not. */
const forAccess = { part: 'console/access/', allowed: ['login', 'token', 'gateway'] }

/** What only these files may have. The numbers of the specification and the rules of a stage stay in one place. */
const only: readonly (readonly [what: string, pattern: RegExp, files: readonly string[]])[] = [
  ['compares with dev', /['"`]dev['"`]/, ['config/mode.ts']],
  ['reads the process', /(?<![-\w])process\.[a-z]/, ['main.ts']],
  ['makes Received', /\bas Received\b/, ['gateway/receive.ts']],
  ['makes Identified', /\bas Identified\b/, ['gateway/identify.ts']],
  ['makes Authorized', /\bas Authorized\b/, ['gateway/authorize.ts']],
]

const top = (path: string) => path.split('/', 1)[0] ?? ''

/** A file that imports nothing of its folder is a part of its own: the sub-folders may import it. */
const inside = Map.groupBy(
  arrows.filter(({ path, to }) => to.startsWith(`${dirname(path)}/`)),
  ({ path }) => path,
)
const isLeaf = (path: string): boolean => (inside.get(path) ?? []).every(({ to }) => isLeaf(to))
const partOf = (path: string) => (path.includes('/') && !isLeaf(path) ? dirname(path) : path)

describe('the architecture', () => {
  test('imports in the order of its folders', () => {
    const place = (path: string) =>
      order.indexOf(path.startsWith('config/schema/') ? 'config/schema' : top(path))
    const unknown = sources.map(({ path }) => top(path)).filter((each) => !order.includes(each))
    const backwards = arrows.filter(({ path, to }) => place(to) > place(path))

    expect(unknown).toEqual([])
    expect(backwards).toEqual([])
  })

  test.each(Object.entries(forViews))('keeps %s a view of operations', (folder, allowed) => {
    const strays = arrows.filter(({ path, to }) => {
      const more = path.startsWith(forAccess.part) ? forAccess.allowed : []
      return top(path) === folder && ![folder, ...allowed, ...more].includes(top(to))
    })

    expect(strays).toEqual([])
  })

  test.each(Object.entries(doors))('lets others enter %s by its doors only', (folder, files) => {
    const entered = arrows.filter(({ path, to }) => top(to) === folder && top(path) !== folder)

    expect(new Set(entered.map(({ to }) => to))).toEqual(
      new Set(files.map((file) => `${folder}/${file}.ts`)),
    )
  })

  test('leaves it to admission which paths are own, removed or canonical', () => {
    const rules = ['kernel/endpoints.ts', 'policy/rule/canonical-path.ts']
    const own = arrows.filter(
      ({ path, to }) => /^(?:gateway|http|serve)\//.test(path) && rules.includes(to),
    )

    // Else the gateway could decide about them otherwise than the commands.
    expect(own).toEqual([])
  })

  test('points in one direction: no cycle of files, types included, and none of parts', () => {
    expect(cycles(arrows.map(({ path, to }) => [path, to] as const))).toEqual([])
    const edges = arrows.map(({ path, to }) => [partOf(path), partOf(to)] as const)
    expect(cycles(edges.filter(([from, to]) => from !== to))).toEqual([])
  })

  test('keeps each library of the outside in its home', () => {
    const imports = sources.flatMap(({ path, imports }) =>
      imports.map(({ from }) => ({ path, from })),
    )
    const strays = Object.entries(homes).flatMap(([name, home]) =>
      imports.filter(({ path, from }) => `${from}/`.startsWith(`${name}/`) && !home.test(path)),
    )

    expect(strays).toEqual([])
  })

  test('lets stores see only the types of login', () => {
    const values = arrows.filter(
      ({ path, to, typeOnly }) => top(path) === 'stores' && top(to) === 'login' && !typeOnly,
    )

    expect(values).toEqual([])
  })

  test('exports nothing that no other file imports', () => {
    // Other packages import it, as `postern/login`.
    expect(unusedExports('login/methods/module/contract.ts')).toEqual([])
  })

  test('has no barrel and no drawer', () => {
    const drawer = /(?:^|\/)(?:index|utils?|helpers?|common|misc|types)\.ts$/

    expect(sources.filter(({ path }) => drawer.test(path))).toEqual([])
  })

  test.each(only)('has %s in one file only', (_, pattern, files) => {
    const found = sources.filter(({ code }) => pattern.test(code)).map(({ path }) => path)

    expect(found).toEqual(files)
  })

  test('catches nothing where deciding returns a value and refusing throws', () => {
    const pure =
      /^(?:admission|answers|metrics|policy\/(?:rule|model|set|import|review|checks|diff|expectations)|gateway\/(?:arrival|headers))\/|^(?:gateway|policy)\/(?!live)[^/]+$/
    const catching = sources.filter(
      ({ path, code }) => pure.test(path) && /\bcatch\b\s*[({]/.test(code),
    )

    expect(catching.map(({ path }) => path)).toEqual([])
  })
})
