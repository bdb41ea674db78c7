import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

/** A real answer, and the type that the pages read it as. */
export interface TypedAnswer {
  /** As in the sources: `readonly Proposal[]`. */
  readonly type: string
  readonly operation: string
  readonly body: unknown
}

const sources = resolve('console/src')

const modules = ['answers', 'draft-answers', 'live-answers']

/** The types of answers, by name, with the module that has them. */
const moduleOf = new Map(
  modules.flatMap((module) =>
    [...readFileSync(join(sources, `${module}.ts`), 'utf8').matchAll(/^export \w+ (\w+)/gm)].map(
      ([, name = '']) => [name, module] as const,
    ),
  ),
)

/** The operations of the questions that pages share, by name. */
const shared = new Map(
  readFileSync(join(sources, 'questions.ts'), 'utf8')
    .split(/^ {2}(?=\w)/m)
    .flatMap((text) => {
      const name = /^\w+/.exec(text)?.[0]
      const operation = /question\([^)]*?'([a-z]+(?:\/[a-z]+)*)'/.exec(text)?.[1]
      return name === undefined || operation === undefined ? [] : [[name, operation] as const]
    }),
)

const asking =
  /\b(?:useAnswer|useRefreshed|ask|submit|change)<((?:readonly )?[A-Z][A-Za-z]{2,}(?:\[\])?)>\(/
const typed = new RegExp(`${asking.source}[^)]*?'([a-z]+(?:/[a-z]+)*)'(?! \\?)`, 'g')
const typedShared = new RegExp(`${asking.source}\\.\\.\\.questions\\.(\\w+)`, 'g')
/** A question that the page needs besides, as in `const [operation, question] = questions.who(query)`. */
const taken = new RegExp(
  `\\[operation, \\w+\\] = questions\\.(\\w+)(?:(?!questions\\.)[^])*?${asking.source}operation\\b`,
  'g',
)

/** Every question of the front end with a type of these modules, as `TYPE operation`. */
export function typedQuestions(): readonly string[] {
  const found = readdirSync(sources, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path))
    .flatMap((path) => {
      const text = readFileSync(join(sources, path), 'utf8')
      return [
        ...[...text.matchAll(typed)].map(([, type, operation]) => [type, operation]),
        ...[...text.matchAll(typedShared)].map(([, type, name = '']) => [type, shared.get(name)]),
        ...[...text.matchAll(taken)].map(([, name = '', type]) => [type, shared.get(name)]),
      ]
    })
    .filter(([type = '']) => moduleOf.has(type.replace(/^readonly |\[\]$/g, '')))
    .map(([type, operation]) => `${type} ${operation}`)
  return [...new Set(found)].toSorted()
}

/**
 * What the compiler says against these answers: a field that is missing or has another type, and a field
 * of the types that no answer has, optional ones included. `unseen` are those that no answer must have, as
 * `Type.field`; `*` stands for any text.
 */
export async function problemsWith(
  answers: readonly TypedAnswer[],
  unseen: readonly string[],
): Promise<string> {
  const directory = resolve('console/src', `answers-check-${process.pid}`)
  await mkdir(directory)
  try {
    const file = join(directory, 'check.ts')
    await writeFile(file, textOf(answers, unseen))
    return await compile(file)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

const helpers = `
type Keys<S> = S extends unknown ? keyof S : never
type At<S, K extends PropertyKey> = S extends unknown ? (K extends keyof S ? S[K] : never) : never
type Items<S> = S extends readonly (infer F)[] ? F : never
/** The paths of a type that are in none of the samples. */
type Missing<T, S, P extends string> = T extends readonly (infer E)[]
  ? Missing<E, Items<S>, P>
  : T extends object
    ? string extends keyof T
      ? never
      : { [K in keyof T & string]-?: K extends Keys<Extract<S, object>>
          ? Missing<NonNullable<T[K]>, NonNullable<At<S, K>>, \`\${P}.\${K}\`>
          : \`\${P}.\${K}\` }[keyof T & string]
    : never
type None<T> = [T] extends [never] ? 'every field seen' : T
`

function textOf(answers: readonly TypedAnswer[], unseen: readonly string[]): string {
  const named = (type: string) =>
    type.replace(/[A-Z]\w+/, (name) => `M${modules.indexOf(moduleOf.get(name) ?? '')}.${name}`)
  const samples = answers.map(({ type, operation, body }, at) => {
    // Not in one statement: a literal may not have more fields than its type, an answer may.
    const value = `const sample${at} = ${JSON.stringify(body)} as const`
    return `${value}\nexport const typed${at}: ${named(type)} = sample${at} // ${operation}`
  })
  const byType = Map.groupBy(answers.entries(), ([, { type }]) => type)
  const seen = [...byType].map(([type, entries], at) => {
    const all = entries.map(([number]) => `typeof sample${number}`).join(' | ')
    const name = type.replace(/^readonly |\[\]$/g, '')
    const left = `Exclude<Missing<${named(type)}, ${all}, '${name}'>, Unseen>`
    return `export const seen${at}: None<${left}> = 'every field seen'`
  })
  return [
    ...modules.map((module, at) => `import type * as M${at} from '../${module}.ts'`),
    helpers,
    `type Unseen = ${unseen.map(patternOf).join(' | ') || 'never'}`,
    ...samples,
    ...seen,
    '',
  ].join('\n')
}

/** A template literal type. */
function patternOf(path: string): string {
  return `\`${path.replace('*', () => `$\{string}`)}\``
}

function compile(file: string): Promise<string> {
  const tsc = resolve('node_modules/typescript/bin/tsc')
  const options = ['--noEmit', '--strict', '--target', 'es2024', '--module', 'esnext']
  const more = ['--moduleResolution', 'bundler', '--allowImportingTsExtensions', '--ignoreConfig']
  return new Promise((done) => {
    execFile(
      process.execPath,
      [tsc, ...options, ...more, '--noErrorTruncation', '--pretty', 'false', file],
      (error, stdout, stderr) => done(error === null ? '' : `${stdout}${stderr}`),
    )
  })
}
