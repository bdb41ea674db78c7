import { relative, resolve } from 'node:path'
import type { init, TemplateName } from '../../operations/init/descriptions.ts'
import { packagedPath, templates } from '../../operations/init/templates/templates.ts'
import type { DocumentOf } from '../../operations/operation.ts'
import type { Io } from '../io.ts'
import type { Answers } from './answers.ts'

interface Facts extends DocumentOf<typeof init> {
  readonly template: TemplateName
  readonly answers: Answers
  readonly io: Io
}

type Account = Facts['account']

/** What was created, and commands to paste. */
export function nextSteps(facts: Facts): string {
  const { template, directory, account, ignored } = facts
  const made = [
    account && `account ${account.name} with role ${account.role}`,
    ignored === 'extended' && 'more lines in .gitignore',
  ].filter((each) => typeof each === 'string')
  const also = made.length === 0 ? '' : `, ${made.join(', ')}`
  const first = directory === '.' ? [] : [`cd ${quoted(directory)}`]
  return `Created ${template === 'kubernetes' ? 'values.yaml' : 'postern.yaml'} and policies/ in ${directory}${also}. Next:

${[...first, ...stepsOf[template](facts)].join('\n\n')}
`
}

const stepsOf: Readonly<Record<TemplateName, (facts: Facts) => readonly string[]>> = {
  minimal: ({ answers: { port, upstream, role }, account, io }) => {
    const address = `http://127.0.0.1:${port}`
    const call = `${address}/ -H "Authorization: Bearer $TOKEN"`
    return [
      `# start the gateway; your service listens on ${upstream}\n${program(io)} serve`,
      `# in another terminal: log in (mode dev does not check the captcha) and keep the token\n${logIn(address, account)}`,
      `# role ${role} may read, by policies/policy.csv\ncurl -i ${call}`,
      `# and nothing else: HTTP 200 with code 401; the request never reaches your service\ncurl -i -X DELETE ${call}`,
      `# in a browser: log in as ${account?.name}${whereThePasswordIs(account)}\n${address}/`,
      policySteps(io),
    ]
  },
  'forward-auth': ({ answers: { port, upstream, role }, account, directory, io }) => {
    const address = `http://127.0.0.1:${port}`
    const request = (method: string) =>
      `curl -i http://127.0.0.1:9101/auth/nginx -H 'X-Original-Method: ${method}' -H 'X-Original-URI: /' \\\n  -H "Authorization: Bearer $TOKEN"`
    return [
      `# start Postern\n${program(io)} serve`,
      `# in another terminal: log in (mode dev does not check the captcha) and keep the token\n${logIn(address, account)}`,
      `# ask as nginx does: 200 with identity headers for what role ${role} may do\n${request('GET')}`,
      `# and 403 for anything else\n${request('DELETE')}`,
      `# configure your proxy in front of ${upstream}, from one of these files:\nls ${inPackage('samples', directory, io)}/{nginx,traefik,caddy,envoy}`,
      policySteps(io),
    ]
  },
  'go-admin': ({ template, io }) => [
    `# write the URL of go-admin's own database\n\${EDITOR:-vi} secrets/database-url`,
    `# copy the secret into settings.jwt.secret of go-admin, and restart go-admin\ncat secrets/jwt-secret`,
    `# Postern reads both from these files\n${Object.entries(templates[template].env)
      .map(([name, file]) => `export ${name}=${file}`)
      .join('\n')}`,
    `# take over the rules of go-admin, and read the warnings\n${program(io)} policy import database policies --update\n${program(io)} policy check`,
    `# start the gateway; accounts are those of go-admin\n${program(io)} serve`,
  ],
  kubernetes: ({ answers, directory, io }) => [
    `# write the URLs of PostgreSQL (or MySQL) and Redis, and the image in values.yaml\n\${EDITOR:-vi} secrets/database-url secrets/redis-url values.yaml`,
    `# test the policy\n${program(io)} policy test`,
    `# create the Secret, and install the chart\nkubectl create secret generic postern --from-file=secrets/\nhelm install postern ${inPackage('helm/postern', directory, io)} -f values.yaml --wait${policyFlags(answers)}`,
    `# create the role and the first account; the password is printed once\nkubectl exec deploy/postern -c postern -- postern role add ${answers.role} --name ${answers.role} --data-scope self\nkubectl exec deploy/postern -c postern -- postern user add admin --role admin`,
  ],
}

function policySteps(io: Io): string {
  return `# edit policies/policy.csv; the gateway loads it within a second. Its tests:\n${program(io)} policy test`
}

/** The files of the policy as values; helm reads a dot as the end of a key. */
function policyFlags(answers: Answers): string {
  return templates.kubernetes
    .files(answers)
    .filter(({ name }) => name.startsWith('policies/'))
    .map(({ name }) => {
      const key = name.replace('policies/', '').replaceAll('.', '\\.')
      return ` \\\n  --set-file 'policy.files.${key}=${name}'`
    })
    .join('')
}

function logIn(address: string, account: Account): string {
  const name = JSON.stringify(account?.name)
  // A generated password has letters and digits only, so the shell may put it into the JSON.
  const password = account?.passwordFile ? `'"$(cat ${account.passwordFile})"'` : 'YOUR-PASSWORD'
  const body = `'{"username":${name.replaceAll("'", `'\\''`)},"password":"${password}","uuid":"-","code":"-"}'`
  return `TOKEN=$(curl -s ${address}/api/v1/login -H 'Content-Type: application/json' \\
  -d ${body} | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')`
}

function whereThePasswordIs(account: Account): string {
  return account?.passwordFile ? `; the password is in ${account.passwordFile}` : ''
}

function inPackage(name: string, directory: string, { cwd }: Io): string {
  return quoted(relative(resolve(cwd, directory), packagedPath(name)) || '.')
}

/** How the user called this program: npm links it where no shell looks. */
function program({ host }: Io): string {
  return /[\\/]node_modules[\\/]/.test(host?.argv[1] ?? '') ? 'npx postern' : 'postern'
}

function quoted(text: string): string {
  return /^[\w./@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
