// Suites of revocations, identities and second factors, on a real MariaDB.
process.env['POSTERN_TEST_DATABASES'] = 'mysql'

await import('../stores/revocations.test.ts')
await import('../stores/linked-accounts.test.ts')
await import('../stores/used-once.test.ts')
await import('./second-factor-store.test.ts')
