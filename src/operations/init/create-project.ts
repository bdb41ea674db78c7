import { resolve } from 'node:path'
import { loadConfig } from '../../config/load.ts'
import { configJsonSchema } from '../../config/schema/json-schema.ts'
import { randomPassword } from '../../stores/accounts/random-password.ts'
import { generateKeyFile, newKid } from '../../token/generate-key.ts'
import { createFirstAccount } from '../accounts/change-accounts.ts'
import type { Context } from '../context.ts'
import type { RunOf } from '../operation.ts'
import type { init, TemplateName } from './descriptions.ts'
import { ignoreInGit, openProject, type Project } from './project.ts'
import { schemaFile, type Template, templates } from './templates/templates.ts'

type Input = Parameters<RunOf<typeof init>>[0]

/** Writes a project to start from, all of it or nothing. */
export const run: RunOf<typeof init> = async (input, context) => {
  const template = templates[input.template]
  const directory = resolve(context.cwd, input.dir)
  const project = await openProject(directory, input.dir, topLevelNames(template))
  try {
    await fill(project, input, context)
    await project.publish()
  } catch (error) {
    await project.discard()
    throw error
  }
  const { user, role, password } = input
  const passwordFile = password === undefined ? 'secrets/password' : null
  const account =
    template.hasAccounts && user !== undefined ? { name: user, role, passwordFile } : null
  const ignored = await ignoreInGit(directory, template.ignored)
  return { document: { directory: input.dir, ignored, account } }
}

/** Declines where `run` would overwrite something. */
export async function checkFree(dir: string, name: TemplateName, cwd: string): Promise<void> {
  const names = topLevelNames(templates[name])
  await (await openProject(resolve(cwd, dir), dir, names)).discard()
}

async function fill(project: Project, input: Input, context: Context): Promise<void> {
  const { user, role } = input
  const template = templates[input.template]
  const { upstream = template.defaultUpstream, port = 8000 } = input
  const files = template.files({ upstream: upstream.replace(/\/$/, ''), port, role })
  for (const file of files) await project.write(file)
  if (!files.some(({ name }) => name === 'postern.yaml')) return
  await project.write({ name: schemaFile, text: configJsonSchema() })
  // The variables of this shell may be those of another gateway.
  const here = { ...context, cwd: project.draft, env: template.env, configFile: 'postern.yaml' }
  const check = () => loadConfig({ file: here.configFile, env: here.env, cwd: here.cwd })
  if (!template.hasAccounts || user === undefined) {
    check()
    return
  }
  const key = await generateKeyFile(newKid(new Date()), 'ES256')
  await project.write({ name: `keys/${key.name}`, text: key.text, isSecret: true })
  const { password = randomPassword() } = input
  if (input.password === undefined) {
    await project.write({ name: 'secrets/password', text: `${password}\n`, isSecret: true })
  }
  check()
  context.err('postern: creating the embedded database\n')
  await createFirstAccount({ name: user, password }, role, here)
}

/** Everything that the project has at its top, except what may exist before. */
function topLevelNames(template: Template): readonly string[] {
  const files = template.files({ upstream: '', port: 0, role: '' }).map(({ name }) => name)
  const directories = template.ignored.map((name) => name.replace(/\/$/, ''))
  const schema = files.includes('postern.yaml') ? [schemaFile] : []
  return [...new Set([...files, ...schema, ...directories].map((name) => name.split('/')[0] ?? ''))]
}
