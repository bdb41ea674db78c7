import { relative } from 'node:path'
import type { Io } from '../io.ts'
import type { Answers, FirstAccount } from './answers.ts'
import type { TemplateName } from './specs.ts'
import { packagedPath } from './templates/packaged.ts'
import type { Template } from './templates/template.ts'

interface Facts {
  readonly name: TemplateName
  readonly template: Template
  readonly answers: Answers
  readonly directory: string
  readonly shown: string
  readonly ignored: 'created' | 'extended' | 'unchanged'
  readonly io: Io
}

/** What was created, and commands to paste. */
export function nextSteps(facts: Facts): string {
  const { shown, answers, ignored } = facts
  const { account, values } = answers
  const made = [
    account && `account ${account.name} with role ${values.role}`,
    ignored === 'extended' && 'more lines in .gitignore',
  ].filter((each) => typeof each === 'string')
  const also = made.length === 0 ? '' : `, ${made.join(', ')}`
  const steps = stepsOf[facts.name](facts)
  const first = shown === '.' ? [] : [`cd ${quoted(shown)}`]
  return `Created ${facts.name === 'kubernetes' ? 'values.yaml' : 'postern.yaml'} and policies/ in ${shown}${also}. Next:

${[...first, ...steps].join('\n\n')}
`
}

const stepsOf: Readonly<Record<TemplateName, (facts: Facts) => readonly string[]>> = {
  minimal: ({ answers: { values, account }, io }) => {
    const address = `http://127.0.0.1:${values.port}`
    const call = `${address}/ -H "Authorization: Bearer $TOKEN"`
    return [
      `# start the gateway; your service listens on ${values.upstream}\n${program(io)} serve`,
      `# in another terminal: log in (mode dev does not check the captcha) and keep the token\n${logIn(address, account)}`,
      `# role ${values.role} may read, by policies/policy.csv\ncurl -i ${call}`,
      `# and nothing else: HTTP 200 with code 401; the request never reaches your service\ncurl -i -X DELETE ${call}`,
      `# in a browser: log in as ${account?.name}${whereThePasswordIs(account)}\n${address}/`,
      policySteps(io),
    ]
  },
  'forward-auth': ({ answers: { values, account }, directory, io }) => {
    const address = `http://127.0.0.1:${values.port}`
    const asked = (method: string) =>
      `curl -i http://127.0.0.1:9101/auth/nginx -H 'X-Original-Method: ${method}' -H 'X-Original-URI: /' \\\n  -H "Authorization: Bearer $TOKEN"`
    return [
      `# start Postern\n${program(io)} serve`,
      `# in another terminal: log in (mode dev does not check the captcha) and keep the token\n${logIn(address, account)}`,
      `# ask as nginx does: 200 with identity headers for what role ${values.role} may do\n${asked('GET')}`,
      `# and 403 for anything else\n${asked('DELETE')}`,
      `# configure your proxy in front of ${values.upstream}, from one of these files:\nls ${inPackage('samples', directory)}/{nginx,traefik,caddy,envoy}`,
      policySteps(io),
    ]
  },
  'go-admin': ({ template, io }) => [
    `# write the URL of go-admin's own database\n\${EDITOR:-vi} secrets/database-url`,
    `# copy the secret into settings.jwt.secret of go-admin, and restart go-admin\ncat secrets/jwt-secret`,
    `# Postern reads both from these files\n${Object.entries(template.env)
      .map(([name, file]) => `export ${name}=${file}`)
      .join('\n')}`,
    `# take over the rules of go-admin, and read the warnings\n${program(io)} policy import database policies --update\n${program(io)} policy check`,
    `# start the gateway; accounts are those of go-admin\n${program(io)} serve`,
  ],
  kubernetes: ({ answers, template, directory, io }) => [
    `# write the URLs of PostgreSQL (or MySQL) and Redis, and the image in values.yaml\n\${EDITOR:-vi} secrets/database-url secrets/redis-url values.yaml`,
    `# test the policy\n${program(io)} policy test`,
    `# create the Secret, and install the chart\nkubectl create secret generic postern --from-file=secrets/\nhelm install postern ${inPackage('helm/postern', directory)} -f values.yaml --wait${policyFlags(template, answers)}`,
    `# create the role and the first account; the password is printed once\nkubectl exec deploy/postern -c postern -- postern role add ${answers.values.role} --name ${answers.values.role} --data-scope self\nkubectl exec deploy/postern -c postern -- postern user add admin --role admin`,
  ],
}

function policySteps(io: Io): string {
  return `# edit policies/policy.csv; the gateway loads it within a second. Its tests:\n${program(io)} policy test`
}

/** The files of the policy as values; helm reads a dot as the end of a key. */
function policyFlags(template: Template, { values }: Answers): string {
  return template
    .files(values)
    .filter(({ name }) => name.startsWith('policies/'))
    .map(({ name }) => {
      const key = name.replace('policies/', '').replaceAll('.', '\\.')
      return ` \\\n  --set-file 'policy.files.${key}=${name}'`
    })
    .join('')
}

function logIn(address: string, account: FirstAccount | undefined): string {
  const name = JSON.stringify(account?.name)
  // A generated password has letters and digits only, so the shell may put it into the JSON.
  const password = account?.isGenerated ? `'"$(cat secrets/password)"'` : 'YOUR-PASSWORD'
  const body = `'{"username":${name.replaceAll("'", `'\\''`)},"password":"${password}","uuid":"-","code":"-"}'`
  return `TOKEN=$(curl -s ${address}/api/v1/login -H 'Content-Type: application/json' \\
  -d ${body} | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')`
}

function whereThePasswordIs(account: FirstAccount | undefined): string {
  return account?.isGenerated ? '; the password is in secrets/password' : ''
}

function inPackage(name: string, directory: string): string {
  return quoted(relative(directory, packagedPath(name)) || '.')
}

/** How the user called this program: npm links it where no shell looks. */
function program({ host }: Io): string {
  return /[\\/]node_modules[\\/]/.test(host?.argv[1] ?? '') ? 'npx postern' : 'postern'
}

function quoted(text: string): string {
  return /^[\w./@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
