import { randomBytes } from 'node:crypto'
import { fill } from '../../../kernel/fill.ts'
import type { TemplateName } from '../descriptions.ts'
import { packagedText } from './packaged.ts'
import { policyFiles, readerPolicy } from './policies.ts'
import { schemaFile, schemaLine, type Template, type TemplateValues } from './template.ts'

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
