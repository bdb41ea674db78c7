/*
 * These tests run a second time here, with application.plainRequests: false, so that the switch works
 * on the day that someone needs it. POSTERN_TEST_PLAIN_REQUESTS=false runs the whole suite that way.
 */
process.env['POSTERN_TEST_PLAIN_REQUESTS'] = 'false'

await import('../attack/smuggling.test.ts')
await import('../http/rejections.test.ts')
