type Sections = Readonly<Record<string, unknown>>

/** Whether gateways under test use the plain request reader: POSTERN_TEST_PLAIN_REQUESTS=false disables it. */
export const plainRequests = process.env['POSTERN_TEST_PLAIN_REQUESTS'] !== 'false'

/** The configuration with that setting, unless a test sets it itself. */
export function withPlainRequests(config: Sections): Sections {
  const application = config['application'] as Sections | undefined
  return { ...config, application: { plainRequests, ...application } }
}
