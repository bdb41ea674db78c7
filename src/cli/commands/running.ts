import { doctor } from '../../operations/doctor/doctor.ts'
import { fleet, status, upstreams, version } from '../../operations/running/running.ts'
import help from '../help-texts/programs.json' with { type: 'json' }
import { operationCommand } from './operation-command.ts'

const views = () => import('../views/running-views.ts')

export const doctorCommand = operationCommand(doctor, {
  ...{ ...help.doctor, arguments: ['file'], config: false },
  view: async () => (await import('../views/doctor-view.ts')).doctorView,
})

export const statusCommand = operationCommand(status, {
  ...help.status,
  view: async () => (await views()).statusView,
})

export const fleetCommand = operationCommand(fleet, {
  ...help.fleet,
  view: async () => (await views()).fleetView,
})

export const upstreamsCommand = operationCommand(upstreams, {
  ...help.upstreams,
  view: async () => (await views()).upstreamsView,
})

export const versionCommand = operationCommand(version, {
  ...{ ...help.version, config: false },
  view: async () => (await views()).versionView,
})
