// Creates what the gateways of docker-compose.yml share: tables, an account, a policy.
import { spawnSync } from 'node:child_process'

function postern(...args) {
  const { status, stdout, stderr } = spawnSync('postern', args, { encoding: 'utf8' })
  process.stdout.write(stdout ?? '')
  process.stderr.write(stderr ?? '')
  return { status: status ?? 1, stdout: stdout ?? '' }
}

function must(...args) {
  const { status, stdout } = postern(...args)
  if (status !== 0) process.exit(status)
  return stdout
}

const policies = process.argv[2] ?? '/etc/postern/policies'
must('db', 'migrate')
const accounts = JSON.parse(must('user', 'list', '--output', 'json'))
if (accounts.length === 0) must('user', 'add', 'admin', '--role', 'admin')
if (postern('policy', 'history').stdout.trim() === '') {
  // The gateways start after this script, so none can confirm the policy yet.
  const how = ['--yes', '--no-wait', '--author', 'docker compose', '-m', 'the first policy']
  must('policy', 'push', ...how, policies)
}
