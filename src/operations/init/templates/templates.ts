import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { fill } from '../../../kernel/fill.ts'
import type { TemplateName } from '../descriptions.ts'

const minimal: Template = {
  defaultUpstream: 'http://127.0.0.1:3000',
  hasAccounts: true,
  env: {},
  ignored: ['data/', 'keys/', 'secrets/'],
  files: (values) => [
    {
      name: 'postern.yaml',
      text: configuration(new URL('./files/minimal.yaml', import.meta.url), values),
    },
    ...readerPolicy(values.role),
  ],
}

/** The configuration of a gateway with accounts, keys and a database of its own. */
function configuration(file: URL, values: TemplateValues, listener = ''): string {
  const accounts = new URL('./files/own-accounts.yaml', import.meta.url)
  return (
    schemaLine + fill(file, { ...values, ownAccounts: fill(accounts, { ...values, listener }) })
  )
}

const forwardAuth: Template = {
  ...minimal,
  files: (values) => [
    {
      name: 'postern.yaml',
      text: configuration(
        new URL('./files/forward-auth.yaml', import.meta.url),
        values,
        trustedProxies,
      ),
    },
    ...readerPolicy(values.role),
  ],
}

const trustedProxies = `  # The proxies that may ask.
  trustedProxies: [127.0.0.1, '::1']
`

const secretFiles = {
  POSTERN_JWT__SECRET_FILE: 'secrets/jwt-secret',
  POSTERN_DATABASE__URL_FILE: 'secrets/database-url',
} as const

const kubernetes: Template = {
  defaultUpstream: 'http://app:8080',
  hasAccounts: false,
  env: { ...secretFiles, POSTERN_REDIS__URL_FILE: 'secrets/redis-url' },
  ignored: ['secrets/'],
  files: (values) => [
    {
      name: 'values.yaml',
      text: fill(new URL('./files/kubernetes.yaml', import.meta.url), { ...values }),
    },
    ...readerPolicy(values.role),
    jwtSecret(),
    secret('database-url', 'postgres://postern:PASSWORD@postgres/postern'),
    secret('redis-url', 'redis://:PASSWORD@redis:6379/0'),
  ],
}

const goAdmin: Template = {
  defaultUpstream: 'http://go-admin:8000',
  hasAccounts: false,
  env: secretFiles,
  ignored: ['data/', 'secrets/'],
  files: (values) => [
    { name: 'postern.yaml', text: shippedConfiguration(values) },
    ...policyFiles(values.role, {
      rules: new URL('./files/go-admin.csv', import.meta.url),
      tests: new URL('./files/go-admin_test.yaml', import.meta.url),
    }),
    jwtSecret(),
    secret('database-url', 'postgres://go-admin:PASSWORD@127.0.0.1:5432/go-admin'),
  ],
}

/** A secret that signs tokens. */
function jwtSecret() {
  return secret('jwt-secret', randomBytes(48).toString('base64url'))
}

function secret(name: string, text: string) {
  return { name: `secrets/${name}`, text: `${text}\n`, isSecret: true } as const
}

/** The shipped configuration, beside its policy and in front of this go-admin. */
function shippedConfiguration({ upstream, port }: TemplateValues): string {
  const shipped = packagedText('config/go-admin.yaml')
  const changes = [
    ['$schema=./schema.json', `$schema=./${schemaFile}`],
    ['postern policy import database policies --config config/go-admin.yaml', importOnce],
    ['directory: ../policies', 'directory: policies'],
    ['  port: 8000\n', `  port: ${port}\n  dataDirectory: data\n`],
    ['- http://go-admin:8000', `- ${upstream}`],
  ] as const
  return changes.reduce((text, [from, to]) => replaced(text, from, to), shipped)
}

const importOnce = 'postern policy import database policies --update'

function replaced(text: string, from: string, to: string): string {
  if (!text.includes(from)) throw new Error(`config/go-admin.yaml has no ${from}`)
  return text.replace(from, () => to)
}

export const templates: Readonly<Record<TemplateName, Template>> = {
  ...{ minimal, kubernetes },
  'go-admin': goAdmin,
  'forward-auth': forwardAuth,
}

/** What the templates are filled with. */
interface TemplateValues {
  readonly upstream: string
  readonly port: number
  readonly role: string
}

/** One file to write; secrets are for their owner's eyes only. */
export interface GeneratedFile {
  readonly name: string
  readonly text: string
  readonly isSecret?: true
}

/** A project that `postern init` can write. */
export interface Template {
  readonly defaultUpstream: string
  /** Whether Postern has accounts of its own there, and a key that signs their tokens. */
  readonly hasAccounts: boolean
  /** The variables that name the generated secrets; none where the configuration names its files. */
  readonly env: Readonly<Record<string, string>>
  /** Directories that Git must not see. */
  readonly ignored: readonly string[]
  readonly files: (values: TemplateValues) => readonly GeneratedFile[]
}

/** The first line of a configuration file, for the YAML language server of an editor. */
export const schemaFile = 'postern.schema.json'
const schemaLine = `# yaml-language-server: $schema=./${schemaFile}\n`

/** The path of a file of the package, from the source and from the build alike. */
export function packagedPath(name: string): string {
  return fileURLToPath(new URL(`../../../../${name}`, import.meta.url))
}

/** The text of a file of the package, such as `policies/model.conf`. */
function packagedText(name: string): string {
  return readFileSync(packagedPath(name), 'utf8')
}

interface PolicyTexts {
  readonly rules: URL
  readonly tests: URL
}

/** A policy directory with one rule and what must hold of it. */
function policyFiles(role: string, { rules, tests }: PolicyTexts): readonly GeneratedFile[] {
  const exclusions = new URL('./files/exclusions.yaml', import.meta.url)
  const allRules = new URL('./files/policy.csv', import.meta.url)
  const allTests = new URL('./files/policy_test.yaml', import.meta.url)
  return [
    { name: 'policies/model.conf', text: packagedText('policies/model.conf') },
    { name: 'policies/exclusions.yaml', text: fill(exclusions) },
    { name: 'policies/policy.csv', text: fill(allRules, { rules: fill(rules, { role }) }) },
    {
      name: 'policies/tests/policy_test.yaml',
      text: fill(allTests, { tests: fill(tests, { role }) }),
    },
  ]
}

/** The policy of a new application: one role reads everything. */
function readerPolicy(role: string): readonly GeneratedFile[] {
  return policyFiles(role, {
    rules: new URL('./files/reader.csv', import.meta.url),
    tests: new URL('./files/reader_test.yaml', import.meta.url),
  })
}
