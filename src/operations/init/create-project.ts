import { resolve } from 'node:path'
import { loadConfig } from '../../config/load.ts'
import { configJsonSchema } from '../../config/schema/json-schema.ts'
import { createPasswordHash } from '../../login/password-hash.ts'
import { randomPassword } from '../../stores/accounts/random-password.ts'
import { createRoleChanges } from '../../stores/accounts/role-changes.ts'
import { generateKeyFile, newKid } from '../../token/generate-key.ts'
import { changeAccount, initialRoles } from '../accounts/change-account.ts'
import { accountSettings, withDatabase } from '../configured-database.ts'
import type { Context } from '../context.ts'
import type { RunOf } from '../operation.ts'
import type { init, TemplateName } from './descriptions.ts'
import { ignoreInGit, openProject, type Project } from './project.ts'
import { schemaFile, type Template } from './templates/template.ts'
import { templates } from './templates/templates.ts'

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
  const here = { ...context, cwd: project.draft, env: template.env }
  if (!template.hasAccounts || user === undefined) {
    loadConfig({ file: 'postern.yaml', env: here.env, cwd: here.cwd })
    return
  }
  const key = await generateKeyFile(newKid(new Date()), 'ES256')
  await project.write({ name: `keys/${key.name}`, text: key.text, isSecret: true })
  const { password = randomPassword() } = input
  if (input.password === undefined) {
    await project.write({ name: 'secrets/password', text: `${password}\n`, isSecret: true })
  }
  await createAccount({ name: user, role, password }, here)
}

/** Creates the role and the account in the database of the configuration, as the commands do. */
async function createAccount(
  {
    name,
    role,
    password,
  }: { readonly name: string; readonly role: string; readonly password: string },
  context: Context,
): Promise<void> {
  const settings = accountSettings('postern.yaml', context)
  context.err('postern: creating the embedded database\n')
  const { actor, protectedRoles = [] } = context
  await withDatabase(settings, async (database) => {
    await initialRoles(database, actor)
    // One of the initial roles, such as editor, exists already.
    await createRoleChanges(database, actor).add(role, { name: role, dataScope: '5' })
    const passwordHash = await createPasswordHash({ concurrency: 1, queue: 0 }).hash(password)
    const parts = { database, actor, passwordHash, protectedRoles }
    await changeAccount({ verb: 'add', name, role }, parts)
  })
}

/** Everything that the project has at its top, except what may exist before. */
function topLevelNames(template: Template): readonly string[] {
  const files = template.files({ upstream: '', port: 0, role: '' }).map(({ name }) => name)
  const directories = template.ignored.map((name) => name.replace(/\/$/, ''))
  const schema = files.includes('postern.yaml') ? [schemaFile] : []
  return [...new Set([...files, ...schema, ...directories].map((name) => name.split('/')[0] ?? ''))]
}
