import { formatModel } from '../../src/policy/set/format.ts'
import { widestModel } from '../policy/policy-text.ts'
import { type ConsoleGateway, startConsoleGateway } from './console-browser.ts'

/** A name that a page must show and never run. */
export const hostile = '<img src=x onerror=alert(1)>'
const long = `team-${'x'.repeat(120)}`

const roles = Array.from({ length: 197 }, (_, at) => `role-${String(at).padStart(3, '0')}`)
const paths = Array.from({ length: 2000 }, (_, at) => `/api/v1/things-${at}/:id`)

/** 200 roles, 2,000 operations, 10,000 rules. */
const policyText = [
  'p, editor, /api/v1/orders/:id, GET, allow',
  'p, editor, /api/v1/orders/:id, PUT, allow',
  `p, "${hostile}", /api/v1/orders/:id, GET, allow`,
  `p, ${long}, /api/v1/orders/${'y'.repeat(120)}, GET, allow`,
  'p, viewer, /api/v1/gone, GET, allow',
  'g, lead, editor',
  ...paths.flatMap((path, at) =>
    [0, 1, 2, 3, 4].map(
      (nth) => `p, ${roles[(at * 7 + nth * 41) % roles.length]}, ${path}, GET, allow`,
    ),
  ),
].join('\n')

export const largeFiles = {
  'policies/model.conf': formatModel(widestModel),
  'policies/policy.csv': `${policyText}\n`,
  'policies/exclusions.yaml': `- { method: GET, path: /api/v1/orders/help, reason: "Help, ${hostile}" }\n`,
}

export const largeRoutes = {
  upstreams: { app: { targets: ['http://127.0.0.1:9'] } },
  routes: [
    { path: '/api/v1', upstream: 'app' },
    { path: '/status', upstream: 'app', access: 'public', reason: 'Probes have no token.' },
    { path: '/news', upstream: 'app', access: 'authenticated' },
    { path: '/unused', upstream: 'app' },
  ],
}

/** Addresses of pages that show an answer of this policy. */
export const largePages = {
  can: '#/can?role=lead&method=DELETE&path=/api/v1/orders/7',
  who: '#/who?method=GET&path=/api/v1/orders/7',
  role: '#/role?role=lead',
  compare: '#/role?role=lead&compare=viewer',
  // With few cells: axe looks at each one.
  matrix: '#/matrix?operations=orders&roles=lead+editor+team+img',
  unserved: '#/matrix?view=unserved',
  open: '#/open',
  people: '#/people',
  person: '#/people?name=admin',
  roles: '#/roles',
  oneRole: '#/roles?key=admin',
  unknown: '#/nonsense',
} as const

/** A gateway with this policy and its console. */
export function startLargeConsole(): Promise<ConsoleGateway> {
  return startConsoleGateway(largeFiles, largeRoutes)
}
