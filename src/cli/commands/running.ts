import { doctor } from '../../operations/doctor/doctor.ts'
import { fleet, status, upstreams, version } from '../../operations/running/running.ts'
import { operationCommand } from './operation-command.ts'

const views = () => import('../views/running-views.ts')
const unanswered = {
  3: 'the configuration does not say where the gateway listens, and --ops is not given',
  5: 'the gateway did not answer',
}

export const doctorCommand = operationCommand(doctor, {
  arguments: ['file'],
  config: false,
  exitCodes: {
    0: 'no problems: the gateway would start and work',
    1: 'problems were found',
  },
  examples: [
    'postern doctor',
    'postern doctor /etc/postern/postern.yaml',
    'postern doctor --output json | jq -r \'.checks[] | select(.status != "ok") | .message\'',
  ],
  view: async () => (await import('../views/doctor-view.ts')).doctorView,
})

export const statusCommand = operationCommand(status, {
  exitCodes: {
    0: 'ready, and the configuration file is active',
    1: 'not ready, or the configuration file was rejected or not applied by a worker',
    ...unanswered,
  },
  examples: [
    'postern status',
    'postern status --live  # for a liveness check',
    'postern status --ops http://10.0.0.5:9100',
    'postern status --output json | jq -r .configuration.revision',
  ],
  view: async () => (await views()).statusView,
})

export const fleetCommand = operationCommand(fleet, {
  exitCodes: {
    0: 'every known gateway uses the live policy',
    1: 'gateways are behind, stale, lost or unknown',
    3: 'the configuration is not valid',
    5: 'Redis or the gateway did not answer',
  },
  examples: [
    'postern fleet',
    'postern fleet --ops http://10.0.0.5:9100',
    "postern fleet --output json | jq -r '.replicas[] | select(.facts.upstreams.out > 0) | .id'",
  ],
  view: async () => (await views()).fleetView,
})

export const upstreamsCommand = operationCommand(upstreams, {
  exitCodes: { 0: 'shown', ...unanswered },
  examples: [
    'postern upstreams',
    'postern upstreams --ops http://10.0.0.5:9100',
    'postern upstreams --output json | jq \'.upstreams[].targets[] | select(.circuit != "closed")\'',
  ],
  view: async () => (await views()).upstreamsView,
})

export const versionCommand = operationCommand(version, {
  config: false,
  exitCodes: { 0: 'printed' },
  examples: ['postern version', 'postern version --output json | jq -r .commit'],
  view: async () => (await views()).versionView,
})
