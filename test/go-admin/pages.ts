/** What one page of the front end asks for. */
interface Page {
  /** What a role needs for the tables of the page, as `path, method`. */
  readonly rules: readonly string[]
  readonly calls: readonly string[]
  /** What the page also calls, and a role needs a rule of its own for, although go-admin lets every caller. */
  readonly closed?: readonly string[]
}

const options = (...types: readonly string[]) =>
  types.map((type) => `GET /api/v1/dict-data/option-select?dictType=${type}`)
const list = '?pageIndex=1&pageSize=10'

/** Rules for a table with the usual five endpoints, and the calls of a page that shows it. */
function table(path: string): { readonly rules: string[]; readonly calls: string[] } {
  const one = `${path}/:id`
  return {
    rules: [`${path}, *`, `${one}, *`],
    calls: [
      `GET ${path}${list}`,
      `GET ${path}/2`,
      `POST ${path}`,
      `PUT ${path}/2`,
      `DELETE ${path}`,
    ],
  }
}

/** What go-admin-ui calls before the login. */
export const beforeLogin = ['GET /api/v1/captcha', 'GET /api/v1/app-config']

/**
 * What the pages of go-admin-ui 3.1.0 call, by page of its menu, as its source says (src/api, src/views). The start
 * page, the form builder and the icons call nothing.
 */
export const pages: Readonly<Record<string, Page>> = {
  every: { rules: [], calls: ['GET /api/v1/getinfo', 'GET /api/v1/menurole'] },
  profile: {
    rules: [],
    calls: ['GET /api/v1/user/profile', 'POST /api/v1/user/avatar', 'PUT /api/v1/user/pwd/set'],
    closed: ['PUT /api/v1/sys-user'],
  },
  users: {
    rules: [
      ...['/api/v1/sys-user, GET', '/api/v1/sys-user/:id, GET', '/api/v1/sys-user, POST'],
      ...['/api/v1/sys-user, DELETE', '/api/v1/user/pwd/reset, PUT', '/api/v1/user/status, PUT'],
      ...['/api/v1/post, GET', '/api/v1/role, GET'],
    ],
    calls: [
      ...options('sys_normal_disable', 'sys_user_sex'),
      `GET /api/v1/sys-user${list}`,
      'GET /api/v1/deptTree',
      'GET /api/v1/post?pageSize=1000',
      'GET /api/v1/role?pageSize=1000',
      'GET /api/v1/configKey/sys_user_initPassword',
      ...['GET /api/v1/sys-user/2', 'POST /api/v1/sys-user', 'DELETE /api/v1/sys-user'],
      ...['PUT /api/v1/user/pwd/reset', 'PUT /api/v1/user/status'],
    ],
    closed: ['PUT /api/v1/sys-user'],
  },
  roles: {
    rules: table('/api/v1/role').rules,
    calls: [
      ...options('sys_normal_disable'),
      ...table('/api/v1/role').calls,
      'GET /api/v1/roleMenuTreeselect/0',
      'GET /api/v1/roleDeptTreeselect/2',
    ],
    closed: ['PUT /api/v1/role-status', 'PUT /api/v1/roledatascope'],
  },
  menus: {
    rules: [...table('/api/v1/menu').rules, '/api/v1/sys-api, GET'],
    calls: [
      ...options('sys_show_hide'),
      ...table('/api/v1/menu').calls,
      'GET /api/v1/sys-api?pageSize=10000&type=BUS',
    ],
  },
  departments: {
    rules: table('/api/v1/dept').rules,
    calls: [...options('sys_normal_disable'), ...table('/api/v1/dept').calls],
  },
  posts: {
    rules: table('/api/v1/post').rules,
    calls: [...options('sys_normal_disable'), ...table('/api/v1/post').calls],
  },
  dictionaries: {
    rules: [...table('/api/v1/dict/type').rules, ...table('/api/v1/dict/data').rules],
    calls: [
      ...options('sys_normal_disable'),
      ...table('/api/v1/dict/type').calls,
      ...table('/api/v1/dict/data').calls,
      'GET /api/v1/dict/type?pageSize=1000',
    ],
  },
  parameters: {
    rules: table('/api/v1/config').rules,
    calls: [...options('sys_yes_no'), ...table('/api/v1/config').calls],
  },
  settings: {
    rules: ['/api/v1/set-config, GET'],
    calls: ['GET /api/v1/set-config', 'POST /api/v1/public/uploadFile'],
    closed: ['PUT /api/v1/set-config'],
  },
  endpoints: {
    rules: ['/api/v1/sys-api, GET', '/api/v1/sys-api/:id, *'],
    calls: [`GET /api/v1/sys-api${list}`, 'GET /api/v1/sys-api/2', 'PUT /api/v1/sys-api/2'],
  },
  'login-log': {
    rules: ['/api/v1/sys-login-log, *'],
    calls: [
      ...options('sys_common_status'),
      ...[`GET /api/v1/sys-login-log${list}`, 'DELETE /api/v1/sys-login-log'],
    ],
  },
  'operation-log': {
    rules: ['/api/v1/sys-opera-log, *', '/api/v1/operlog/clean, DELETE'],
    calls: [
      ...options('sys_common_status'),
      ...[`GET /api/v1/sys-opera-log${list}`, 'DELETE /api/v1/sys-opera-log'],
      'DELETE /api/v1/operlog/clean',
    ],
  },
  jobs: {
    rules: ['/api/v1/sysjob, *', '/api/v1/sysjob/:id, GET'],
    calls: [
      ...options('sys_job_group', 'sys_job_status'),
      ...[`GET /api/v1/sysjob${list}`, 'GET /api/v1/sysjob/2', 'POST /api/v1/sysjob'],
      ...['PUT /api/v1/sysjob', 'DELETE /api/v1/sysjob'],
      // The log of jobs: a WebSocket with the token in the query, and a call when it closes.
      ...['GET /ws/5f1b/log', 'GET /wslogout/5f1b/log'],
    ],
    closed: ['GET /api/v1/job/start/2', 'GET /api/v1/job/remove/2'],
  },
  monitor: { rules: [], calls: ['GET /api/v1/server-monitor'] },
  generator: {
    rules: [],
    calls: ['GET /api/v1/dict/type-option-select'],
    closed: [
      ...[`GET /api/v1/sys/tables/page${list}`, `GET /api/v1/db/tables/page${list}`],
      ...['GET /api/v1/sys/tables/info/1', 'PUT /api/v1/sys/tables/info'],
      ...['POST /api/v1/sys/tables/info', 'DELETE /api/v1/sys/tables/info/1'],
      ...['GET /api/v1/gen/preview/1', 'GET /api/v1/gen/toproject/1?ischeckrole=0'],
      ...['GET /api/v1/gen/apitofile/1', 'GET /api/v1/gen/todb/1', 'GET /api/v1/gen/tabletree'],
    ],
  },
  products: {
    rules: table('/api/v1/demo-product').rules,
    calls: table('/api/v1/demo-product').calls,
  },
}
