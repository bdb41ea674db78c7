import { randomBytes } from 'node:crypto'
import { packagedText } from './packaged.ts'
import { policyFiles } from './policies.ts'
import { schemaFile, type Template, type TemplateValues } from './template.ts'

export const goAdmin: Template = {
  defaultUpstream: 'http://go-admin:8000',
  hasAccounts: false,
  env: {
    POSTERN_JWT__SECRET_FILE: 'secrets/jwt-secret',
    POSTERN_DATABASE__URL_FILE: 'secrets/database-url',
  },
  ignored: ['data/', 'secrets/'],
  files: (values) => [
    { name: 'postern.yaml', text: configuration(values) },
    ...policyFiles(values.role, {
      rules: new URL('./files/go-admin.csv', import.meta.url),
      tests: new URL('./files/go-admin_test.yaml', import.meta.url),
    }),
    jwtSecret(),
    {
      name: 'secrets/database-url',
      text: 'postgres://go-admin:PASSWORD@127.0.0.1:5432/go-admin\n',
      isSecret: true,
    },
  ],
}

/** A secret that signs tokens. */
export function jwtSecret() {
  const text = `${randomBytes(48).toString('base64url')}\n`
  return { name: 'secrets/jwt-secret', text, isSecret: true } as const
}

/** The shipped configuration, beside its policy and in front of this go-admin. */
function configuration({ upstream, port }: TemplateValues): string {
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
