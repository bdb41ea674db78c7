import { Type } from '../../config/schema/type.ts'
import { local } from '../operation.ts'
import { nullable, text, word } from '../schema.ts'

export const init = local({
  kind: 'change',
  name: 'init',
  summary: 'write a configuration and a policy to start from, and create a role and an account',
  input: {
    dir: {
      ...{ value: 'DIR', default: '.' },
      description: 'directory, created if missing (default: .)',
    },
    template: {
      value: 'NAME',
      choices: ['minimal', 'go-admin', 'forward-auth', 'kubernetes'],
      default: 'minimal',
      description: 'minimal, go-admin, forward-auth or kubernetes',
    },
    upstream: {
      value: 'URL',
      description:
        'address of your service (default: http://127.0.0.1:3000; go-admin: http://go-admin:8000; kubernetes: http://app:8080)',
    },
    port: {
      value: 'PORT',
      number: { min: 1, max: 65_535, integer: true },
      description: 'port of the gateway (default: 8000)',
    },
    role: { value: 'KEY', default: 'member', description: 'key of the role to create' },
    user: { value: 'NAME', description: 'name of the account (default: your user name)' },
    password: { value: 'PASSWORD', description: 'of the account; absent: it is generated' },
  },
  document: Type.Object({
    directory: text,
    ignored: word<'created' | 'extended' | 'unchanged'>(),
    account: nullable(
      Type.Object({
        ...{ name: text, role: text },
        passwordFile: nullable(text, 'null: the given password.'),
      }),
      'null: Postern has no accounts of its own there.',
    ),
  }),
})

export type TemplateName = 'minimal' | 'go-admin' | 'forward-auth' | 'kubernetes'
