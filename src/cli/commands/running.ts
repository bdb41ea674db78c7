import { doctor } from '../../operations/doctor/doctor.ts'
import { fleet, status, upstreams, version } from '../../operations/running/running.ts'
import help from '../help-texts/programs.json' with { type: 'json' }
import { commandsWith, partsOf } from './operation-command.ts'

const show = commandsWith(help)
const views = partsOf(() => import('../views/running-views.ts'))

export const doctorCommand = show(doctor, {
  arguments: ['file'],
  config: false,
  view: async () => (await import('../views/doctor-view.ts')).doctorView,
})

export const statusCommand = show(status, { view: views('statusView') })

export const fleetCommand = show(fleet, { view: views('fleetView') })

export const upstreamsCommand = show(upstreams, { view: views('upstreamsView') })

export const versionCommand = show(version, { config: false, view: views('versionView') })
