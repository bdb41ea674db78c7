/*
 * The attack tables run a second time here, over HTTP/2: the same verdicts, and the same requests at the
 * upstream. POSTERN_TEST_HTTP2=true does so with any test that uses `call`.
 */
process.env['POSTERN_TEST_HTTP2'] = 'true'

await import('../attack/carriers.test.ts')
await import('../attack/cross-site.test.ts')
await import('../attack/forged-headers.test.ts')
await import('../attack/issuer-tokens.test.ts')
await import('../attack/odd-paths.test.ts')
await import('../attack/path-confusion.test.ts')
await import('../attack/token-forgery.test.ts')
await import('../attack/trusted-proxies.test.ts')
