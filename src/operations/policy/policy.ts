import { implement } from '../operation.ts'
import * as checks from './check-descriptions.ts'
import * as described from './descriptions.ts'
import * as evidence from './evidence-descriptions.ts'
import * as goAdmin from './go-admin-descriptions.ts'

export const policyCheck = implement(checks.policyCheck, () => import('./check.ts'))
export const policyTest = implement(checks.policyTest, () => import('./test.ts'))
export const policyDiff = implement(checks.policyDiff, () => import('./diff.ts'))
export const policyCoverage = implement(checks.policyCoverage, () => import('./coverage.ts'))
export const policyNames = implement(described.policyNames, () => import('./names.ts'))
export const policyOpen = implement(described.policyOpen, () => import('./open.ts'))
export const policyGuard = implement(described.policyGuard, () => import('./guard.ts'))
export const policyCan = implement(described.policyCan, () => import('./can.ts'))
export const policySimulate = implement(described.policySimulate, () => import('./simulate.ts'))
export const policyWho = implement(described.policyWho, () => import('./who.ts'))
export const policyExplain = implement(described.policyExplain, () => import('./explain.ts'))
export const policyBlame = implement(described.policyBlame, () => import('./blame.ts'))
export const policyFiles = implement(described.policyFiles, () => import('./files.ts'))
export const policyHistory = implement(described.policyHistory, () => import('./history.ts'))
export const policyMatrix = implement(described.policyMatrix, () => import('./matrix.ts'))
export const policyUnused = implement(evidence.policyUnused, () => import('./unused.ts'))
export const policyDenials = implement(evidence.policyDenials, () => import('./denials.ts'))
export const policyReplay = implement(evidence.policyReplay, () => import('./replay.ts'))
export const policyImport = implement(goAdmin.policyImport, () => import('./import.ts'))
