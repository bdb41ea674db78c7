import type { Finding } from '../../policy/checks/check.ts'
import type { ReportRule } from '../report/report.ts'
import rules from './finding-rules.json' with { type: 'json' }

/** What each warning of `policy check` means, for readers who see it in another tool. */
export const findingRules: Readonly<Record<Finding['code'], ReportRule>> = rules
