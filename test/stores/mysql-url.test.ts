import { expect, test } from 'vitest'
import { readMysqlUrl } from '../../src/kernel/mysql-url.ts'

test('a MySQL URL is read with its TLS settings', () => {
  expect(readMysqlUrl('mariadb://u:p%40@db/name?sslmode=verify-full&sslrootcert=/ca.pem')).toEqual({
    ...{ host: 'db', port: 3306, user: 'u', password: 'p@', database: 'name' },
    tls: { verify: true, ca: '/ca.pem', cert: undefined, key: undefined },
  })
})

test.each([
  ['mysql://u:secret@a,b/name', 'several hosts'],
  ['mysql://u:secret@db', 'no database'],
  ['mysql://u:secret@db/name?ssl=true', 'unknown parameter'],
  ['mysql://u:secret@db/name?sslmode=on', 'unknown sslmode'],
  ['mysql://u:secret@db/name?sslrootcert=/ca.pem', 'without TLS'],
  // The driver would accept a certificate for localhost.
  ['mysql://u:secret@10.0.0.5/name?sslmode=verify-full', 'IP address'],
])('%s is refused, without its password', (url, reason) => {
  expect(readMysqlUrl(url)).toContain(reason)
  expect(readMysqlUrl(url)).not.toContain('secret')
})
