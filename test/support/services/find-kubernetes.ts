import { findProgram, isProgram, type Wanted } from './programs.ts'

const programs = {
  POSTERN_TEST_KUBE_APISERVER: { name: 'kube-apiserver', says: /Kubernetes v1\.(\d+)/, oldest: 29 },
  POSTERN_TEST_ETCD: { name: 'etcd', says: /etcd Version: (\d+)\./, oldest: 3 },
} as const satisfies Readonly<Record<string, Wanted>>

/**
 * The API server of Kubernetes and its store: the programs that the variables name, else those of this
 * machine. Throws one line on what to install.
 */
export function findKubernetes(): { readonly apiServer: string; readonly etcd: string } {
  return { apiServer: find('POSTERN_TEST_KUBE_APISERVER'), etcd: find('POSTERN_TEST_ETCD') }
}

function find(variable: keyof typeof programs): string {
  const wanted = programs[variable]
  const named = process.env[variable]
  if (named !== undefined && !isProgram(named, wanted)) {
    throw new Error(`${variable} names ${named}, which is not ${wanted.name}`)
  }
  const program = named ?? findProgram(wanted)
  if (program !== undefined) return program
  throw new Error(`they need ${wanted.name}: install it or name the program in ${variable}`)
}
