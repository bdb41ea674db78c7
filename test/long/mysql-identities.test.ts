// Suites of links to other systems and of one-time codes, on a real MariaDB.
process.env['POSTERN_TEST_DATABASES'] = 'mysql'

await import('../stores/linked-accounts.test.ts')
await import('./second-factor-store.test.ts')
