// After a build: writes the commit beside the compiled program, for `postern version`. The hash alone,
// without a path or a host name; empty when this is not a checkout.
import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'

const describe = ['describe', '--always', '--dirty', '--abbrev=40', '--exclude=*']
const { stdout } = existsSync('.git') ? spawnSync('git', describe, { encoding: 'utf8' }) : {}
writeFileSync('dist/commit', stdout ?? '')
