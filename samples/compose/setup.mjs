// Creates what the gateways of docker-compose.yml share: tables, roles, a policy. Not an account: its
// password would be in the log of this container.
import { spawnSync } from 'node:child_process'

function postern(...args) {
  const { status, stdout, stderr } = spawnSync('postern', args, { encoding: 'utf8' })
  process.stdout.write(stdout ?? '')
  process.stderr.write(stderr ?? '')
  return { status: status ?? 1, stdout: stdout ?? '' }
}

function must(...args) {
  const { status } = postern(...args)
  if (status !== 0) process.exit(status)
}

const policies = process.argv[2] ?? '/etc/postern/policies'
must('db', 'migrate')
if (postern('policy', 'history').stdout.trim() === '') {
  // The gateways start after this script, so none can confirm the policy yet.
  const how = ['--yes', '--no-wait', '--author', 'docker compose', '-m', 'the first policy']
  must('policy', 'push', ...how, policies)
}
