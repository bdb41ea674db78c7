/** An endpoint that go-admin lets every logged-in caller use, and what it is. */
interface KnownExclusion {
  readonly method: string
  readonly path: string
  readonly reason: string
  /** Business endpoints do not belong on the list (spec, Authentication 6). */
  readonly isBusiness: boolean
}

/** A starting list, as text for `exclusions.yaml`, and what to think about before using it. */
interface StartingList {
  readonly text: string
  readonly warnings: readonly string[]
}

const version = '/api/v1'
const own = (method: string, path: string, reason: string) =>
  ({ method, path: version + path, reason, isBusiness: false }) as const
const business = (method: string, path: string, reason: string) =>
  ({ method, path: version + path, reason, isBusiness: true }) as const

/** Spec, Permission exclusion list. */
const specified: readonly KnownExclusion[] = [
  own('POST', '/login', 'A caller who logs in has no role yet.'),
  own('POST', '/logout', 'Every caller may end their own session.'),
  own('GET', '/getCaptcha', 'The captcha is shown before the login.'),
  own('GET', '/user/profile', 'Every caller may see their own profile.'),
]

/** The rest of what go-admin v2 has compiled in. */
const goAdmin: readonly KnownExclusion[] = [
  own('GET', '/getinfo', 'The front end asks who is logged in.'),
  own('GET', '/menurole', "The front end asks for the menu of the caller's role."),
  own('GET', '/app-config', 'Name and logo of the application.'),
  own('GET', '/health', 'Says only that the service is running.'),
  { method: 'GET', path: '/info', reason: 'Says only ok.', isBusiness: false },
  { method: 'GET', path: '/', reason: 'The start page.', isBusiness: false },
  own('POST', '/user/avatar', 'Every caller may change their own picture.'),
  own('PUT', '/user/pwd', 'Every caller may change their own password.'),
  own('PUT', '/user/pwd/set', 'Every caller may change their own password.'),
  business('GET', '/dict/type-option-select', 'lists the dictionaries'),
  business('GET', '/dict-data/option-select', 'lists the entries of a dictionary'),
  business('GET', '/deptTree', 'shows all departments'),
  business('GET', '/menuTreeselect', 'shows all menus'),
  business('GET', '/menuids', 'shows menus of a role'),
  business('GET', '/roleMenuTreeselect/:roleId', 'shows the menus of any role'),
  business('GET', '/roleDeptTreeselect/:roleId', 'shows the departments of any role'),
  business('GET', '/configKey/:configKey', 'shows any setting, the initial password among them'),
  business('GET', '/metrics', 'shows internals of the service'),
  business('GET', '/server-monitor', 'shows the machine of the service'),
  business('GET', '/db/tables/page', 'shows the tables of the database'),
  business('GET', '/db/columns/page', 'shows the columns of the database'),
  business('GET', '/gen/toproject/:tableId', 'writes source code'),
  business('GET', '/gen/todb/:tableId', 'writes menus and endpoints to the database'),
  business('GET', '/gen/tabletree', 'shows the tables of the generator'),
  business('GET', '/gen/preview/:tableId', 'shows generated source code'),
  business('GET', '/gen/apitofile/:tableId', 'writes source code'),
  business('POST', '/public/uploadFile', 'stores a file on the server'),
  business('PUT', '/sys-user', 'changes any account, its role included'),
]

/** The public endpoints of the specification and nothing else. */
export function specifiedExclusions(): StartingList {
  return { text: listOf(specified, false), warnings: [] }
}

/**
 * go-admin's list. Its business endpoints (spec, Authentication 6) are written as comments, or with
 * `withBusiness` as entries, with a warning for each of them either way.
 */
export function goAdminExclusions(withBusiness: boolean): StartingList {
  const warnings = goAdmin
    .filter(({ isBusiness }) => isBusiness)
    .map(({ method, path, reason }) => {
      const done = withBusiness ? 'is excluded' : 'is commented out'
      return `${method} ${path} ${done}: it ${reason}, so it is a business endpoint, which go-admin opens to every logged-in caller`
    })
  return { text: listOf([...specified, ...goAdmin], withBusiness), warnings }
}

function listOf(entries: readonly KnownExclusion[], withBusiness: boolean): string {
  const blocks = entries.map(({ method, path, reason, isBusiness }) => {
    const why = isBusiness ? `CHECK THIS: a business endpoint, it ${reason}.` : reason
    const lines = [`- method: ${method}`, `  path: ${path}`, `  reason: ${JSON.stringify(why)}`]
    return lines.map((line) => (isBusiness && !withBusiness ? `# ${line}` : line)).join('\n')
  })
  return `${heading}\n\n${blocks.join('\n\n')}\n`
}

const heading =
  '# Endpoints that skip the permission check: every logged-in caller may call them, whatever the role.'
