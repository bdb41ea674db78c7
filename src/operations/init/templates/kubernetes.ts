import { fill } from '../../../kernel/fill.ts'
import { jwtSecret } from './go-admin.ts'
import { readerPolicy } from './policies.ts'
import type { Template } from './template.ts'

export const kubernetes: Template = {
  defaultUpstream: 'http://app:8080',
  hasAccounts: false,
  env: {
    POSTERN_JWT__SECRET_FILE: 'secrets/jwt-secret',
    POSTERN_DATABASE__URL_FILE: 'secrets/database-url',
    POSTERN_REDIS__URL_FILE: 'secrets/redis-url',
  },
  ignored: ['secrets/'],
  files: (values) => [
    {
      name: 'values.yaml',
      text: fill(new URL('./files/kubernetes.yaml', import.meta.url), { ...values }),
    },
    ...readerPolicy(values.role),
    jwtSecret(),
    {
      name: 'secrets/database-url',
      text: 'postgres://postern:PASSWORD@postgres/postern\n',
      isSecret: true,
    },
    { name: 'secrets/redis-url', text: 'redis://:PASSWORD@redis:6379/0\n', isSecret: true },
  ],
}
