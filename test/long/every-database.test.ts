// The suites of what is in a database, on every kind of database and in both eras of go-admin's
// tables. `npm test` has both eras in PostgreSQL, and the first one in the embedded database.
process.env['POSTERN_TEST_DATABASES'] = 'every'

await import('../stores/account-changes.test.ts')
await import('../stores/accounts.test.ts')
await import('../stores/audit.test.ts')
await import('../stores/lockouts.test.ts')
await import('../stores/login-log-table.test.ts')
await import('../stores/policy-move-audit.test.ts')
await import('../stores/revocations.test.ts')
await import('../stores/services.test.ts')
await import('../stores/sessions.test.ts')
await import('../stores/usage.test.ts')
