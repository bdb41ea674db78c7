// Suites of accounts, of links to other systems and of one-time codes, on a real MariaDB.
process.env['POSTERN_TEST_DATABASES'] = 'mysql'

await import('../stores/account-changes.test.ts')
await import('../stores/accounts.test.ts')
await import('../stores/linked-accounts.test.ts')
await import('../stores/provider-sessions.test.ts')
await import('./linked-role.test.ts')
await import('./second-factor-store.test.ts')
