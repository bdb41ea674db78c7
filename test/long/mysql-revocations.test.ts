// The suite of revocations, on a real MariaDB.
process.env['POSTERN_TEST_DATABASES'] = 'mysql'

await import('../stores/revocations.test.ts')
