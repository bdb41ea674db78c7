// Suites of what is in a database, on a real MariaDB.
process.env['POSTERN_TEST_DATABASES'] = 'mysql'

await import('../stores/audit.test.ts')
await import('../stores/audit-queue.test.ts')
await import('../stores/lockouts.test.ts')
await import('../stores/login-log-table.test.ts')
await import('../stores/policy-move-audit.test.ts')
await import('../stores/policy-move-table.test.ts')
await import('../stores/services.test.ts')
await import('../stores/sessions.test.ts')
await import('../stores/usage.test.ts')
await import('../stores/used-once.test.ts')
